"""The page on which a reader grows a tree on a table of their own: what its browser runs, by the standard library."""
