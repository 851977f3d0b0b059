"""`make grade SUBMISSIONS=folder` marks a class; `python -m grading --help` lists what can be chosen."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from grading.autograde import not_graded
from grading.by_hand import HandMarks
from grading.collect import Submission, by_assignment, collected, handed_in_at, read_roster
from grading.course import Assignment, names_of_cells, prepared
from grading.marks import Marked, slugs, write_all
from grading.report import write_feedback, write_report
from grading.rules import Rules, read_rules
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
    parser.add_argument("--out", type=absolute, default=ROOT / "graded", help="where the marks go")
    parser.add_argument("--sources", type=absolute, default=SOURCES, help="the notebooks with the solutions")
    parser.add_argument("--assignments", nargs="*", default=[], help="which to mark; else those that were handed in")
    parser.add_argument("--roster", type=absolute, help="the students, as Canvas or Moodle exports them")
    parser.add_argument("--rules", type=absolute, help="deadlines, extensions and the like, in TOML")
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
    for option, path in {"ROSTER": options.roster, "RULES": options.rules}.items():
        if path and not path.is_file():
            raise ValueError(f"{option}={path}: there is no such file")
    sources = sources_of(options)
    rules = read_rules(options.rules, sorted(sources)) if options.rules else Rules()
    roster = read_roster(options.roster) if options.roster else None
    submissions = collected(options.submissions, sorted(sources), roster)
    known = {name: names_of_cells(path) for name, path in sources.items()}
    wanted = options.assignments or sorted(sources)
    handed_in = {id(one): by_assignment(one, known, wanted) for one in submissions}
    names = [name for name in wanted if options.assignments or any(name in found for found in handed_in.values())]
    if not names:
        raise ValueError(f"SUBMISSIONS={options.submissions}: no file is one of the notebooks {', '.join(wanted)}")
    students = joined(submissions, earlier(options.out / "results", sorted(sources)))
    all_names = [name for name in sorted(sources) if name in names or any(name in one.results for one in students)]
    print(f"Preparing {', '.join(all_names)}", flush=True)
    courses = {name: prepared(sources[name], options.out / "course") for name in all_names}
    hand = HandMarks(options.out)
    hand.read([one.student for one in students], courses)
    limits = Limits(options.seconds, options.total, options.memory)
    for name in names:
        check(courses[name], limits, options.unsafe)
    seconds = mark(jobs_of(students, handed_in, [courses[name] for name in names], options), limits, options)
    hand.apply(students)
    for one in students:
        one.results = {name: one.results[name] for name in all_names if name in one.results}
        for name, result in one.results.items():
            result["late"] = rules.late(name, result, sum(task["points"] for task in result["tasks"]))
    hand.save(students)
    write_down(students, list(courses.values()), rules, roster or [], options)
    say_what_is_there(options.out, students, seconds)
    return 0


def sources_of(options: argparse.Namespace) -> dict[str, Path]:
    """The notebooks with the solutions, by name."""
    sources = {path.stem: path for path in sorted(options.sources.glob("*.ipynb"))}
    if missing := set(options.assignments) - set(sources):
        raise ValueError(f"ASSIGNMENTS: {options.sources} holds no {', '.join(sorted(missing))}.ipynb")
    if not sources:
        raise ValueError(f"SOURCES={options.sources}: there are no notebooks")
    return sources


def earlier(folder: Path, names: list[str]) -> dict[str, Marked]:
    """The students whom earlier runs have marked, with the results."""
    found: dict[str, Marked] = {}
    for path in sorted(folder.glob("*/*.json")):
        with suppress(ValueError, KeyError):  # a result that another version has written
            result = json.loads(path.read_text(encoding="utf-8"))
            who = Submission(result["student"], result["participant"], result["canvas"])
            one = found.setdefault(who.student, Marked(who, path.parent.name))
            if path.stem in names and one.slug == path.parent.name:
                one.results[path.stem] = result
    return found


def joined(submissions: list[Submission], before: dict[str, Marked]) -> list[Marked]:
    """All students, those of this run first by name and then those of earlier runs alone."""
    new = [one.student for one in submissions if one.student not in before]
    slug = dict(zip(new, slugs(new, [one.slug for one in before.values()])))
    found = {}
    for one in submissions:
        known = before.get(one.student)
        found[one.student] = Marked(one, known.slug, known.results) if known else Marked(one, slug[one.student])
    return sorted((before | found).values(), key=lambda one: one.student.casefold())


def jobs_of(
    students: list[Marked],
    handed_in: dict[int, dict[str, tuple[str, bytes]]],
    courses: list[Assignment],
    options: argparse.Namespace,
) -> list[tuple[Marked, Job]]:
    """What is to be marked; who has handed in other files alone is told so."""
    jobs = []
    for one in students:
        found, who = handed_in.get(id(one.submission)), one.submission
        if found is None:
            continue
        for course in courses:
            about: dict[str, Any] = {"student": who.student, "participant": who.participant, "canvas": who.canvas}
            if course.name in found:
                path, text = found[course.name]
                about |= {"flagged": path in who.late, "when": when(who, len(courses) == 1)}
                about["download"] = who.downloads.get(path, "")
                place = options.out / "results" / one.slug / f"{course.name}.json"
                jobs.append((one, Job(one.student, course, text, place, about)))
            elif course.name not in one.results and (who.files or who.others or not who.person):
                others = f", but {', '.join(who.others[:5])}" if who.others else ""
                result = not_graded(course, f"no notebook was found{others}")
                one.results[course.name] = result | about | {"missing": True}
    return jobs


def when(who: Submission, is_only: bool) -> str:
    """The time at which something was handed in, empty if it is not known. Moodle's list is that of one assignment."""
    try:
        found = handed_in_at(who.person) if is_only else None
    except ValueError:
        who.remark(f"the time of handing in can't be read: {who.person['Last modified (submission)']}")
        found = None
    return found.isoformat() if found else ""


def write_down(
    students: list[Marked],
    assignments: list[Assignment],
    rules: Rules,
    roster: list[dict[str, str]],
    options: argparse.Namespace,
) -> None:
    """Write the tables and the pages."""
    write_feedback(options.out / "feedback", students, assignments)
    titles = list(roster[0]) if roster else []
    write_all(options.out, students, assignments, rules.missing, titles)
    write_report(options.out, students, assignments, rules.missing, [NOT_GUARANTEED] if options.unsafe else [])


def check(assignment: Assignment, limits: Limits, unsafe: bool) -> None:
    """Refuse an assignment that would give wrong marks."""
    print(f"Checking {assignment.name}: its solutions, and its student edition", flush=True)
    if wrong := self_check(assignment, limits, unsafe):
        raise ValueError("\n".join([f"{assignment.name} can't be marked:", *wrong]))


def mark(jobs: list[tuple[Marked, Job]], limits: Limits, options: argparse.Namespace) -> float:
    """Mark all jobs, telling of each; the seconds that it took."""
    started, done, n_fresh = time.monotonic(), 0, 0
    owner = {job.result: one for one, job in jobs}

    def tell(job: Job, result: dict[str, Any], fresh: bool) -> None:
        nonlocal done, n_fresh
        done += 1
        score = sum(task["score"] or 0 for task in result["tasks"])
        points = sum(task["points"] for task in result["tasks"])
        waiting = sum(task["score"] is None for task in result["tasks"])
        so_far = f" so far, {waiting} to be read" if waiting else ""
        why = f"; {printable(result['remarks'][0])}" if result["remarks"] else ""
        if fresh:
            n_fresh += 1
            left = (time.monotonic() - started) / n_fresh * (len(jobs) - done) / 60
            ends = f" (some {left:.0f} min to go)" if left > 1 else ""
            what = f"{printable(job.title)}, {job.assignment.name}: {score:g} of {points:g}"
            print(f"[{done:4}/{len(jobs)}] {what}{so_far}{why}{ends}", flush=True)

    for job, result in marked([job for _, job in jobs], limits, options.unsafe, options.workers, tell):
        owner[job.result].results[job.assignment.name] = result
    return time.monotonic() - started


def printable(text: str) -> str:
    """Text of students without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def say_what_is_there(out: Path, students: list[Marked], seconds: float) -> None:
    """The last lines of a run."""
    odd = [one for one in students if one.remarks()]
    waiting = sum(one.waiting() for one in students)
    print(f"\nStudents: {len(students)}; to be looked at by hand: {len(odd)}; {seconds:.0f} s")
    for one in odd:
        print(printable(f"  {one.student}: {'; '.join(one.remarks())}")[:300])
    if waiting:
        print(f"Answers to be read: {waiting}, in {out / 'by_hand.html'}; their scores go into {out / 'by_hand.csv'}")
    print(f"Marks: {out / 'marks.csv'}; report: {out / 'report.html'}; feedback: {out / 'feedback'}")


if __name__ == "__main__":
    sys.exit(main())
