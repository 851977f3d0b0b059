"""The bank of questions: read back, it has all that Moodle's importer asks for, and no check or task is missing."""

from __future__ import annotations

import ast
from collections import Counter
from xml.etree import ElementTree

import pytest

from scripts import questions
from scripts.execute import BOOK
from scripts.exercises import STUB, chapters, read, tasks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bank(site, tmp_path_factory):
    """The questions by their kind, as they stand in the file."""
    place = tmp_path_factory.mktemp("questions") / "questions.xml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["questions", str(site), str(place)])
        assert questions.main() == 0
    root = ElementTree.parse(place).getroot()
    assert root.tag == "quiz" and root[0].get("type") == "category"
    found = {kind: root.findall(f"question[@type='{kind}']") for kind in {question.get("type") for question in root}}
    return found, place.read_text(encoding="utf-8")


def test_no_check_and_no_task_is_missing(bank):
    found, _ = bank
    cells = [cell.source for page in BOOK.glob("*.ipynb") for cell in read(page.stem, BOOK).cells]
    kinds = Counter(line.split()[-1] for cell in cells for line in cell.splitlines() if line.startswith(":::{check} "))
    assert kinds == {
        "choose": len(found["multichoice"]),
        "number": len(found["numerical"]),
        "order": len(found["matching"]),
    }
    graded = [task for chapter in chapters() for task in tasks(read(chapter))]
    assert [question.findtext("name/text") for question in found["essay"]] == [f"{t.name}: {t.title}" for t in graded]
    assert sum(float(question.findtext("defaultgrade")) for question in found["essay"]) == sum(t.points for t in graded)
    names = Counter(q.findtext("name/text") for kind, several in found.items() if kind != "category" for q in several)
    assert set(names.values()) == {1}


@pytest.mark.parametrize("kind", ["multichoice", "numerical"])
def test_one_answer_is_right_and_each_has_its_sentence(bank, kind):
    for question in bank[0][kind]:
        answers = question.findall("answer")
        assert Counter(answer.get("fraction") for answer in answers) == {"100": 1, "0": len(answers) - 1}
        assert all(answer.findtext("feedback/text").startswith("<p>") for answer in answers)


def test_numbers_are_numbers_and_the_last_sentence_is_for_all_others(bank):
    for question in bank[0]["numerical"]:
        *known, other = question.findall("answer")
        assert other.findtext("text") == "*" and other.get("fraction") == "0"
        assert all(float(a.findtext("text")) is not None and float(a.findtext("tolerance")) >= 0 for a in known)


def test_steps_have_their_places(bank):
    for question in bank[0]["matching"]:
        places = [answer.text for answer in question.findall("subquestion/answer/text")]
        assert places == [str(place) for place in range(1, len(places) + 1)] and len(places) >= 3


def test_a_task_has_a_cell_to_begin_with_and_a_solution_for_its_reader(bank):
    for question in bank[0]["essay"]:
        template, solution = question.findtext("responsetemplate/text"), question.findtext("graderinfo/text")
        if question.findtext("responseformat") == "monospaced":
            assert STUB in template and ast.parse(solution.strip("`").removeprefix("python"))
        else:
            assert template == "" and "**Rubric**" in solution


def test_nothing_leads_to_another_place_of_the_page(bank):
    _, text = bank
    assert not any(part in text for part in ("href", "&lt;a", "BEGIN SOLUTION", "class=", "$"))


def test_without_a_site_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["questions", str(tmp_path), str(tmp_path / "questions.xml")])
    assert questions.main() == 1 and "Build the site first" in capsys.readouterr().err
