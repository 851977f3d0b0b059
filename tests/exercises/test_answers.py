"""nbgrader grades the answers on file: right ones in full, the untouched notebook nothing, mistakes by their name."""

from __future__ import annotations

import pytest

from scripts.exercises import read, tasks
from tests.exercises import submissions
from tests.exercises.submissions import EVERY_CHAPTER, answers, student_of

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", params=EVERY_CHAPTER)
def graded(request, tmp_path_factory):
    """A chapter's name, its tasks, and the marks of all students."""
    chapter = request.param
    marks = submissions.grade(tmp_path_factory.mktemp(chapter), chapter)
    return chapter, {task.name: task for task in tasks(read(chapter))}, marks


def message(mark) -> str | None:
    """What the checks of a task answered, or None where they passed."""
    return next((output.evalue for output in mark.outputs if output.output_type == "error"), None)


def test_right_answers_score_full(graded):
    _, by_name, marks = graded
    full = [student for student in marks if student == "reference" or student.startswith("right")]
    assert len(full) >= 3
    lost = {
        (student, name): message(mark)
        for student in full
        for name, mark in marks[student].items()
        if not by_name[name].by_hand and mark.score != by_name[name].points
    }
    assert lost == {}


def test_the_untouched_notebook_scores_nothing(graded):
    _, _, marks = graded
    assert {name: mark.score for name, mark in marks["untouched"].items() if mark.score != 0} == {}
    answered = [message(mark) for mark in marks["untouched"].values() if mark.outputs]
    assert all(text.startswith(("not there yet: ", "no value: ")) for text in answered)


def test_words_wait_for_a_reader(graded):
    _, by_name, marks = graded
    by_hand = [name for name, task in by_name.items() if task.by_hand]
    assert len(by_hand) == 1
    assert marks["reference"][by_hand[0]].by_hand and marks["reference"][by_hand[0]].score is None


def test_mistakes_are_named_and_lose_marks(graded):
    chapter, _, marks = graded
    faults = []
    for answer in answers(chapter):
        if answer.meets is None:
            continue
        mark = marks[student_of(answer, chapter)][answer.task]
        if mark.score != 0 or not (message(mark) or "").startswith(f"{answer.meets}: "):
            faults.append(f"{answer.task}, {answer.name}: {mark.score} points, {message(mark)}")
    assert faults == []


def test_no_check_ends_in_a_traceback(graded):
    """All that a failed check shows is its message."""
    _, _, marks = graded
    for by_task in marks.values():
        for mark in by_task.values():
            errors = [output for output in mark.outputs if output.output_type == "error"]
            assert all(error.ename == "NotYet" and error.traceback == [error.evalue] for error in errors)
