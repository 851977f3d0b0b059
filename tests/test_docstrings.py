"""The examples in treekit's docstrings print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import treekit


def test_examples_in_docstrings():
    n_tried = 0
    for module in pkgutil.walk_packages(treekit.__path__, "treekit."):
        failed, tried = doctest.testmod(importlib.import_module(module.name))
        assert failed == 0, module.name
        n_tried += tried
    assert n_tried > 0
