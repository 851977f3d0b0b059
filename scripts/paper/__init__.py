"""The book as files: a PDF to print, an EPUB to read on a small device, a zip to open where there is no network.

All three are made from the site as it was built last, so every number, reference and figure is the site's own.

* `site` reads the built pages; `formulas` turns their MathML into Typst, and into words for whoever listens
* `typesetting` writes pages as Typst, `paper.typ` says how they look, `pdf` joins them and has them set
* `epub` packs pages as an e-book, `offline` packs the site itself
* `offer` puts the files beside the pages, and links to them
"""
