"""What the reader's browser runs on the page for a table of their own; NumPy comes in only with `estimators`."""
