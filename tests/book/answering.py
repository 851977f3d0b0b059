"""Answering the checks of a page in a browser.

The first answer of each check is given with the mouse, as a reader would, where nothing may cover what is clicked. The
others press the same buttons by script, which takes a tenth of the time.
"""

from __future__ import annotations

from itertools import chain, permutations, repeat

#: What a check says to its reader, what is chosen, typed and in which order.
STATES = """() => [...document.querySelectorAll(".check")].map((check) => ({
  said: [...check.querySelectorAll(".check-said > :not([hidden])")].map((e) => e.textContent).join(" "),
  chosen: [...check.querySelectorAll("input")].map((e) => (e.type === "radio" ? e.checked : e.value)),
  order: [...check.querySelectorAll("li p")].map((e) => e.textContent),
}))"""

#: The replies of a check and what each is a reply to.
REPLIES = """(check) => [...check.querySelectorAll(".check-reply")].map((reply) => ({
  isRight: reply.classList.contains("check-right"),
  text: reply.textContent,
  links: [...reply.querySelectorAll("a[href]")].length,
  ...reply.dataset,
}))"""


def states(page):
    return page.evaluate(STATES)


def with_mouse(locator):
    locator.click()


def by_script(locator):
    locator.evaluate("(e) => e.click()")


def arrange(check, places, press):
    """Move the steps by their buttons until they stand in the order of `places`."""
    for target, place in enumerate(places):
        step = check.locator(f"li[data-place='{place}']")
        while step.evaluate("(e) => [...e.parentElement.children].indexOf(e)") > target:
            press(step.get_by_role("button", name="Move up"))


def other_number(replies):
    """A number to which only the last reply fits."""
    return max(abs(float(reply["value"])) for reply in replies if "value" in reply) * 3 + 1234


def give(check, kind, replies, index, press=with_mouse):
    """Give the answer to which reply `index` belongs."""
    reply = replies[index]
    if kind == "choose":
        press(check.get_by_role("radio").nth(index))
    elif kind == "number":
        check.get_by_role("textbox").fill(str(reply.get("value", other_number(replies))))
    else:
        count = check.locator("li").count()
        places = list(range(count))
        if not reply["isRight"]:
            places = order_for(replies, index, count)
        arrange(check, places, press)
    press(check.get_by_role("button", name="Check", exact=True))


def order_for(replies, index, count):
    """An order to which this reply is the first wrong one that fits."""
    befores = [[int(place) for place in reply.get("before", "").split()] for reply in replies]
    for places in permutations(range(count)):
        fits = [
            number
            for number, before in enumerate(befores)
            if not replies[number]["isRight"] and (not before or places.index(before[0]) < places.index(before[1]))
        ]
        if list(places) != sorted(places) and fits[:1] == [index]:
            return list(places)
    raise AssertionError(f"no order is answered by: {replies[index]['text']}")


def answer_every_check(page):
    """Give every answer of every check of a page, the right one last; return what is wrong, by label."""
    faults = {}
    for check in page.locator(".check").all():
        label, kind = check.get_attribute("id"), check.get_attribute("data-kind")
        replies = check.evaluate(REPLIES)
        wrong = [index for index, reply in enumerate(replies) if not reply["isRight"]]
        right = [index for index, reply in enumerate(replies) if reply["isRight"]]
        found = []
        for press, index in zip(chain([with_mouse], repeat(by_script)), wrong + right, strict=False):
            give(check, kind, replies, index, press)
            said = check.locator(".check-said > :not([hidden])").evaluate_all("(all) => all.map((e) => e.textContent)")
            if said != [replies[index]["text"]]:
                found.append(f"{said} instead of {replies[index]['text']!r}")
        faults[label] = "; ".join(found)
    return faults
