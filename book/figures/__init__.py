"""The figures of the chapters: one module a chapter, one function a figure.

A figure that moves is an :class:`figures.explorable.Explorable`; one that stands still is a drawing in SVG, or is drawn
by matplotlib. The package lies beside the chapters, so a notebook that runs in its own folder finds it.
"""
