"""`make grade SUBMISSIONS=folder` marks a class; `python -m grading --help` lists what can be chosen."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

from grading.autograde import not_graded
from grading.collect import by_assignment, collected, read_roster
from grading.course import Assignment, names_of_cells, prepared
from grading.marks import Marked, read_by_hand, slugs, write_all
from grading.report import write_feedback, write_report
from grading.run import Job, marked, self_check
from grading.sandbox import NOT_GUARANTEED, Limits, bubblewrap, exposed
from scripts.exercises import ROOT, SOURCES


def absolute(word: str) -> Path:
    """A path that means the same wherever nbgrader works."""
    return Path(word).resolve()


def arguments(words: list[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="make grade", description="Mark what students handed in.")
    parser.add_argument("submissions", type=absolute, help="a folder or a zip")
    parser.add_argument("--out", type=absolute, default=ROOT / "_build" / "grading", help="where the marks go")
    parser.add_argument("--sources", type=absolute, default=SOURCES, help="the notebooks with the solutions")
    parser.add_argument("--assignments", nargs="*", default=[], help="which to mark; else those that were handed in")
    parser.add_argument("--roster", type=absolute, help="the students, as Canvas or Moodle exports them")
    parser.add_argument("--workers", type=int, help="submissions at a time; else as many as there are processors")
    parser.add_argument(
        "--seconds", type=float, default=Limits.seconds, help="of a processor, for one cell or one call"
    )
    parser.add_argument("--total", type=float, default=Limits.total, help="the same for one notebook")
    parser.add_argument("--memory", type=int, default=Limits.memory, help="megabytes for one notebook")
    parser.add_argument("--unsafe", action="store_true", help="go on without walls around the students' code")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Mark a class. The exit status is 1 where the command can't go on."""
    options = arguments(words)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"  # several notebooks run side by side
    os.environ["MPLBACKEND"] = "agg"
    try:
        return grade(options)
    except (ValueError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What is marked is kept: the same command goes on from here.", file=sys.stderr)
        return 130


def grade(options: argparse.Namespace) -> int:
    """Collect, mark, and write what is to be handed back."""
    if (why := bubblewrap()) is not None and not options.unsafe:
        print(f"{why}.\n\n{NOT_GUARANTEED}\n\nTo go on all the same: make grade ... UNSAFE=1", file=sys.stderr)
        return 1
    if not options.unsafe and (why := exposed([ROOT / "book", options.sources, options.submissions, options.out])):
        raise ValueError(why)
    limits = Limits(options.seconds, options.total, options.memory)
    sources = {path.stem: path for path in sorted(options.sources.glob("*.ipynb"))}
    if missing := set(options.assignments) - set(sources):
        raise ValueError(f"ASSIGNMENTS: {options.sources} holds no {', '.join(sorted(missing))}.ipynb")
    if not sources:
        raise ValueError(f"SOURCES={options.sources}: there are no notebooks")
    roster = read_roster(options.roster) if options.roster else None
    submissions = collected(options.submissions, sorted(sources), roster)
    wanted = options.assignments or sorted(sources)
    print(f"Preparing {len(wanted)} assignments", flush=True)
    courses = {name: prepared(sources[name], options.out / "course") for name in wanted}
    known = {name: names_of_cells(path) for name, path in sources.items()}
    handed_in = [by_assignment(submission, known, wanted) for submission in submissions]
    names = [name for name in wanted if options.assignments or any(name in found for found in handed_in)]
    if not names:
        raise ValueError(f"SUBMISSIONS={options.submissions}: no file is one of the notebooks {', '.join(wanted)}")
    assignments = [courses[name] for name in names]
    for assignment in assignments:
        check(assignment, limits, options.unsafe)
    students = [Marked(one, slug) for one, slug in zip(submissions, slugs([one.student for one in submissions]))]
    jobs, owner = [], {}
    for one, found in zip(students, handed_in):
        for name in names:
            if name in found:
                job = Job(
                    one.student, courses[name], found[name][1], options.out / "results" / one.slug / f"{name}.json"
                )
                jobs.append(job)
                owner[job.result] = one
            elif one.submission.files or one.submission.others or not one.submission.person:
                others = ", ".join(one.submission.others[:5])
                why = f"no notebook was found{f', but {others}' if others else ''}"
                one.results[name] = not_graded(courses[name], why)
    seconds = mark(jobs, owner, limits, options)
    enter_by_hand(options.out / "by_hand.csv", students)
    for one in students:
        one.results = {name: one.results[name] for name in names if name in one.results}
        write_feedback(options.out / "feedback", one)
    notes = [NOT_GUARANTEED] if options.unsafe else []
    write_all(options.out, students, assignments)
    write_report(options.out, students, assignments, notes)
    say_what_is_there(options.out, students, seconds)
    return 0


def check(assignment: Assignment, limits: Limits, unsafe: bool) -> None:
    """Refuse an assignment that would give wrong marks."""
    print(f"Checking {assignment.name}: its solutions, and its student edition", flush=True)
    if wrong := self_check(assignment, limits, unsafe):
        raise ValueError("\n".join([f"{assignment.name} can't be marked:", *wrong]))


def mark(jobs: list[Job], owner: dict[Path, Marked], limits: Limits, options: argparse.Namespace) -> float:
    """Mark all jobs, telling of each; the seconds that it took."""
    started, done = time.monotonic(), 0

    def tell(job: Job, result: dict[str, Any], fresh: bool) -> None:
        nonlocal done
        done += 1
        score = sum(task["score"] or 0 for task in result["tasks"])
        points = sum(task["points"] for task in result["tasks"])
        waiting = sum(task["score"] is None for task in result["tasks"])
        so_far = f" so far, {waiting} to be read" if waiting else ""
        why = f"; {printable(result['remarks'][0])}" if result["remarks"] else ""
        if fresh:
            print(
                f"[{done:4}/{len(jobs)}] {printable(job.title)}, {job.assignment.name}: {score:g} of {points:g}"
                f"{so_far}{why}",
                flush=True,
            )

    for job, result in marked(jobs, limits, options.unsafe, options.workers, tell):
        owner[job.result].results[job.assignment.name] = result
    return time.monotonic() - started


def printable(text: str) -> str:
    """Text of students without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def enter_by_hand(path: Path, students: list[Marked]) -> None:
    """Enter the scores that an instructor has filled in."""
    filled = read_by_hand(path)
    for one in students:
        for assignment, result in one.results.items():
            for task in result["tasks"]:
                if task["by hand"] and (found := filled.get((one.student, assignment, task["task"]))):
                    task["score"], task["comment"] = found


def say_what_is_there(out: Path, students: list[Marked], seconds: float) -> None:
    """The last lines of a run."""
    odd = [one for one in students if one.remarks()]
    waiting = sum(one.waiting() for one in students)
    print(f"\n{len(students)} students, {seconds:.0f} s. To be looked at by hand: {len(odd)}")
    for one in odd:
        print(printable(f"  {one.student}: {'; '.join(one.remarks())}")[:300])
    if waiting:
        print(f"{waiting} answers wait to be read: {out / 'by_hand.html'}; their scores go into {out / 'by_hand.csv'}")
    print(f"Marks: {out / 'marks.csv'}; report: {out / 'report.html'}; feedback: {out / 'feedback'}")


if __name__ == "__main__":
    sys.exit(main())
