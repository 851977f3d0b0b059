"""The answers on file are graded: right ones in full, the untouched notebook nothing, mistakes by their name."""

from __future__ import annotations

import pytest

from scripts.exercises import read, tasks
from tests.exercises import submissions
from tests.exercises.submissions import EVERY_CHAPTER

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", params=EVERY_CHAPTER)
def graded(request, tmp_path_factory):
    """A chapter's tasks by name, what nbgrader gave to some students, and what the checks show for each answer."""
    chapter, folder = request.param, tmp_path_factory.mktemp(request.param)
    marks = submissions.grade(folder, chapter)
    return {task.name: task for task in tasks(read(chapter))}, marks, submissions.replies(folder, chapter)


def message(outputs) -> str | None:
    """What the checks of a task answered, or None where they passed."""
    return next((output.evalue for output in outputs if output.output_type == "error"), None)


def test_nbgrader_gives_full_points_for_what_is_right_and_none_for_the_rest(graded):
    by_name, marks, _ = graded
    expected = {name: 0 if task.by_hand else task.points for name, task in by_name.items()}
    assert {name: mark.score or 0 for name, mark in marks["reference"].items()} == expected
    for student in marks.keys() - {"reference"}:
        assert {name: mark.score for name, mark in marks[student].items() if mark.score} == {}


def test_right_answers_pass(graded):
    right = {answer: message(outputs) for answer, outputs in graded[2].items() if answer.meets is None}
    assert {(answer.task, answer.name): reply for answer, reply in right.items() if reply} == {}


def test_the_untouched_cells_are_not_there_yet(graded):
    by_name, _, replies = graded
    answered = [message(outputs) for answer, outputs in replies.items() if answer.meets == "untouched"]
    assert len(answered) == sum(not task.by_hand for task in by_name.values())
    assert all(text.startswith(("not there yet: ", "no value: ")) for text in answered)


def test_words_wait_for_a_reader(graded):
    by_name, marks, _ = graded
    by_hand = [name for name, task in by_name.items() if task.by_hand]
    assert len(by_hand) == 1
    assert marks["reference"][by_hand[0]].by_hand and marks["reference"][by_hand[0]].score is None


def test_mistakes_are_named(graded):
    wrong = {
        answer: message(outputs) for answer, outputs in graded[2].items() if answer.meets not in (None, "untouched")
    }
    assert [
        (answer.task, answer.name, reply)
        for answer, reply in wrong.items()
        if not (reply or "passes").startswith(f"{answer.meets}: ")
    ] == []


def test_no_check_ends_in_a_traceback(graded):
    """All that a failed check shows is its message."""
    for outputs in graded[2].values():
        errors = [output for output in outputs if output.output_type == "error"]
        assert all(error.ename == "NotYet" and error.traceback == [error.evalue] for error in errors)
