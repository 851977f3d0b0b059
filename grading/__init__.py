"""Grade what students hand in: nbgrader marks it, a sandbox runs it. `make grade SUBMISSIONS=folder` starts it."""
