"""What axe says of figures in a browser."""

#: The rules of which width and theme can change the outcome. All else is the same for the same elements.
OF_LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]


def turn(page, theme):
    """Make a page of figures light or dark, as the theme of the book does."""
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)


def violations(page, rules=None):
    """Each rule, or each of some, that something on a page violates, however slightly, with the elements that do.

    Without preload axe does not fetch the style sheet again, which a page opened as a file may not do. Of what is right
    it keeps no list, and of no element the path to it: that would take half as long again.
    """
    from axe_playwright_python.sync_playwright import Axe  # only here: most tests need no browser

    options = {"preload": False, "resultTypes": ["violations"], "selectors": False}
    some = {"runOnly": rules} if rules else {}
    found = Axe().run(page, context="main", options=options | some).response["violations"]
    return [(violation["id"], [node["html"] for node in violation["nodes"]]) for violation in found]
