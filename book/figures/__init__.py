"""The figures of the chapters: one module a chapter, one function a figure.

A figure that moves is a scene of `explorable.py`; one that stands still is a picture of `charts.py`, or is plotted by
matplotlib with `plots.py`. `looks.py` and `melons.py` hold what they draw with, and `following.py` lets rows fall
through a drawn tree. The package lies beside the chapters, so a notebook that runs in its own folder finds it.
"""
