"""Which nodes of a grown tree become leaves."""
