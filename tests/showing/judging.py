"""What axe says of figures in a browser."""


def violations(page):
    """Each rule that something on a page violates, however slightly, with the elements that do.

    Without preload axe does not fetch the style sheet again, which a page opened as a file may not do. Of what is right
    it keeps no list, and of no element the path to it: that would take half as long again.
    """
    from axe_playwright_python.sync_playwright import Axe  # only here: most tests need no browser

    options = {"preload": False, "resultTypes": ["violations"], "selectors": False}
    found = Axe().run(page, context="main", options=options).response["violations"]
    return [(violation["id"], [node["html"] for node in violation["nodes"]]) for violation in found]
