"""The page on which a reader grows a tree of a table of their own: what runs in the browser, by the standard library."""
