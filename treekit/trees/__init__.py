"""A grown tree: its arrays, how rows pass through it, and how it is printed and drawn."""
