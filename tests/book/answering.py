"""Answering the checks of a page in a browser.

The first answer of each check is given with the mouse, as a reader would, where nothing may cover what is clicked. A
script gives the others with the same fields and buttons, which takes a tenth of the time.
"""

from __future__ import annotations

from itertools import permutations

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

#: What a check says at this moment.
SAID = """(check) => [...check.querySelectorAll(".check-said > :not([hidden])")].map((e) => e.textContent)"""

#: Gives the answer that `answer_to` returns.
GIVE_BY_SCRIPT = """(check, answer) => {
  const button = (within, label) => [...within.querySelectorAll("button")]
    .find((e) => (e.ariaLabel ?? e.textContent).startsWith(label));
  const fields = check.querySelectorAll("input");
  if (check.dataset.kind === "choose") fields[answer].click();
  else if (check.dataset.kind === "number") {
    fields[0].value = answer;
    fields[0].dispatchEvent(new Event("input", { bubbles: true }));
  } else {
    answer.forEach((place, target) => {
      const step = check.querySelector(`li[data-place="${place}"]`);
      const from = [...step.parentElement.children].indexOf(step);
      for (let k = from; k > target; k -= 1) button(step, "Move up").click();
    });
  }
  button(check, "Check").click();
}"""


def states(page):
    return page.evaluate(STATES)


def other_number(replies):
    """A number to which only the last reply fits."""
    return max(abs(float(reply["value"])) for reply in replies if "value" in reply) * 3 + 1234


def answer_to(kind, replies, index, n_steps):
    """The answer to which reply `index` belongs: the place of a choice, a number to type, or the order of the steps."""
    if kind == "choose":
        return index
    if kind == "number":
        return str(replies[index].get("value", other_number(replies)))
    return list(range(n_steps)) if replies[index]["isRight"] else order_for(replies, index, n_steps)


def give_with_mouse(check, kind, answer):
    """Give an answer as a reader would."""
    if kind == "choose":
        check.get_by_role("radio").nth(answer).click()
    elif kind == "number":
        check.get_by_role("textbox").fill(answer)
    else:
        for target, place in enumerate(answer):
            step = check.locator(f"li[data-place='{place}']")
            while step.evaluate("(e) => [...e.parentElement.children].indexOf(e)") > target:
                step.get_by_role("button", name="Move up").click()
    check.get_by_role("button", name="Check", exact=True).click()


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
        replies, n_steps = check.evaluate(REPLIES), check.locator("li").count()
        found = []
        for number, index in enumerate(sorted(range(len(replies)), key=lambda index: replies[index]["isRight"])):
            answer = answer_to(kind, replies, index, n_steps)
            if number == 0:
                give_with_mouse(check, kind, answer)
            else:
                check.evaluate(GIVE_BY_SCRIPT, answer)
            said = check.evaluate(SAID)
            if said != [replies[index]["text"]]:
                found.append(f"{said} instead of {replies[index]['text']!r}")
        faults[label] = "; ".join(found)
    return faults
