"""Answering the checks of a page in a browser.

A script gives all answers, with the fields and buttons that a reader has. As with a reader's pointer, a click meets
what lies uppermost where it points. test_checks.py answers checks with the mouse and the keyboard themselves.
"""

from __future__ import annotations

from itertools import permutations, zip_longest

#: What a check says to its reader, what is chosen, typed and in which order.
STATES = """() => [...document.querySelectorAll(".check")].map((check) => ({
  reply: [...check.querySelectorAll(".check-said > :not([hidden])")].map((e) => e.textContent).join(" "),
  chosen: [...check.querySelectorAll("input")].map((e) => (e.type === "radio" ? e.checked : e.value)),
  order: [...check.querySelectorAll("li p")].map((e) => e.textContent),
}))"""

#: The checks of a page, the replies of each and what each is a reply to.
CHECKS = """() => [...document.querySelectorAll(".check")].map((check) => ({
  label: check.id,
  kind: check.dataset.kind,
  n_steps: check.querySelectorAll("li").length,
  replies: [...check.querySelectorAll(".check-reply")].map((reply) => ({
    isRight: reply.classList.contains("check-right"),
    text: reply.textContent,
    ...reply.dataset,
  })),
}))"""

#: Gives each check, by label, the answer that `answer_to` returns; returns what each says then, or what is covered.
#: First all are filled in, then all are handed in: so the page is laid out twice, and not anew for every check.
ANSWER = """(answers) => {
  const asked = Object.entries(answers).map(([label, answer]) => [document.getElementById(label), answer]);
  const covered = {};
  const reach = (e) => {
    e.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = e.getBoundingClientRect();
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    if (e.contains(there)) return there;
    covered[e.closest(".check").id] = `${e.type} ${e.ariaLabel ?? e.textContent}: out of reach`;
  };
  const button = (within, label) => [...within.querySelectorAll("button")]
    .find((e) => (e.ariaLabel ?? e.textContent).startsWith(label));
  const fill = (check, answer, field) => {
    const { kind } = check.dataset;
    if (kind === "choose") field?.click();
    else if (kind === "number") {
      field?.select();
      document.execCommand("insertText", false, answer);
    } else {
      answer.forEach((place, target) => {
        const step = check.querySelector(`li[data-place="${place}"]`);
        const from = [...step.parentElement.children].indexOf(step);
        for (let k = from; k > target; k -= 1) reach(button(step, "Move up"))?.click();
      });
    }
  };
  const fieldOf = ([check, answer]) => check.querySelectorAll("input")[check.dataset.kind === "choose" ? answer : 0];
  const fields = asked.map(fieldOf).map((field) => field && reach(field));
  asked.forEach(([check, answer], k) => fill(check, answer, fields[k]));
  for (const there of asked.map(([check]) => reach(button(check, "Check")))) there?.click();
  const repliesOf = (check) => [...check.querySelectorAll(".check-said > :not([hidden])")].map((e) => e.textContent);
  return Object.fromEntries(asked.map(([check]) => [check.id, covered[check.id] ?? repliesOf(check)]));
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


def answers_of(check):
    """Every answer of a check with its reply, the right one last."""
    replies = check["replies"]
    order = sorted(range(len(replies)), key=lambda index: replies[index]["isRight"])
    answers = [answer_to(check["kind"], replies, index, check["n_steps"]) for index in order]
    texts = (replies[index]["text"] for index in order)
    # The last reply to a number is for all others, and quotes what was typed.
    return [(answer, text.replace("Another number", str(answer), 1)) for answer, text in zip(answers, texts)]


def answer_every_check(page):
    """Give every answer of every check of a page, the right one last; return what is wrong, by label."""
    answers = {check["label"]: answers_of(check) for check in page.evaluate(CHECKS)}
    faults = {label: [] for label in answers}
    for turn in zip_longest(*answers.values()):
        given = {label: answer for label, answer in zip(answers, turn, strict=True) if answer}
        shown = page.evaluate(ANSWER, {label: answer for label, (answer, _) in given.items()})
        for label, (_, reply) in given.items():
            if shown[label] != [reply]:
                faults[label].append(f"{shown[label]} instead of {reply!r}")
    return {label: "; ".join(found) for label, found in faults.items()}
