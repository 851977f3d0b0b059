"""A build takes two thirds of its time when two things are not done again and again."""

import gc
from functools import cache

import pybtex.plugin


def setup(app):
    # A build makes millions of objects that refer to each other and needs nearly all of them to its end: Python would
    # spend a quarter of the time on looking for garbage among them.
    gc.set_threshold(20_000, 50, 1_000)
    # For each reference, pybtex looks for its formats in the metadata of all that is installed.
    pybtex.plugin.entry_points = cache(pybtex.plugin.entry_points)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
