"""The figures of the chapters: one module a chapter, one function a figure.

A figure that moves is an :class:`treekit.showing.explorable.Explorable`; one that stands still is a drawing in SVG, or
is drawn by matplotlib. A chapter imports its own module and no other.
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError as error:
    message = "the book's figures need matplotlib, which is not installed: pip install matplotlib"
    raise ModuleNotFoundError(message, name="matplotlib") from error
