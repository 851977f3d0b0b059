"""Copied answers are found though names are changed; short ones, usual ones and one's own are not."""

from __future__ import annotations

from grading.similar import alike

OWN = """
def gain(rows, target):
    before = entropy([row[target] for row in rows])
    parts = {}
    for row in rows:
        parts.setdefault(row["wind"], []).append(row[target])
    after = 0
    for labels in parts.values():
        after += len(labels) / len(rows) * entropy(labels)
    return before - after
"""
COPY = OWN.replace("parts", "buckets").replace("labels", "xs").replace("after", "rest") + "# my own work\n"
OTHER = """
def gain(rows, target):
    table = pd.DataFrame(rows)
    shares = table["wind"].value_counts(normalize=True)
    inner = table.groupby("wind")[target].apply(lambda group: entropy(list(group)))
    return entropy(list(table[target])) - sum(shares[v] * inner[v] for v in shares.index if shares[v] > 0)
"""


def test_a_copy_is_found_and_other_answers_are_not():
    found = alike({"Ada": OWN, "Ben": COPY, "Cyd": OTHER, "Dan": "x = 1", "Eva": "x = 1"}, usual=OTHER)
    assert [pair[:2] for pair in found] == [("Ada", "Ben")]


def test_the_usual_answer_is_no_copy():
    assert alike({"Ada": OWN, "Ben": COPY}, usual=OWN) == []
    assert alike({f"student {n}": OWN for n in range(9)}, usual=OTHER) == []


def test_words():
    words = "The price of a leaf grows until the validation rows show that the tree has learnt the noise of its rows, "
    words += "and then we stop, because each further split costs more on new rows than it gains on those it has seen, "
    words += "which is why the training accuracy says nothing at all about it, whatever its height may be here."
    assert [pair[:2] for pair in alike({"Ada": words, "Ben": words.replace("noise", "chance")}, "")] == [("Ada", "Ben")]
