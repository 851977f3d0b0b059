"""Pages in HTML: what each student is told, and what the class did. They run no script and load nothing."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Collection, Iterable
from html import escape
from pathlib import Path
from statistics import StatisticsError, correlation, median
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.course import NOT_GRADED, Assignment
from grading.marks import Marked, number
from grading.similar import alike
from grading.tables import write, write_zip

__all__ = ["write_feedback", "write_report"]

#: A page may use its own styles and the pictures that stand in it. Whatever else might have got in stays dead.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --good: #2a7f4f; --part: #b58a00; --bad: #b3452c; }
@media (prefers-color-scheme: dark) { :root { --good: #5fbf8a; --part: #d9b13b; --bad: #e88468; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; } h3 { margin: 1.6rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; border-radius: .3rem; white-space: pre-wrap; }
.says { border-left: .25rem solid var(--bad); padding-left: .8rem; } .right { border-color: var(--good); }
.open { border-color: var(--part); } img { max-width: 100%; background: #fff; }
.bar { display: flex; height: 1rem; min-width: 10rem; background: var(--soft); }
.bar i { display: block; } .good { background: var(--good); } .part { background: var(--part); }
.bad { background: var(--bad); } .none { background: var(--line); }
.words { background: var(--soft); padding: .1rem .8rem; } .formula { height: 1.4em; vertical-align: middle; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin: 0 .3rem 0 1rem; }
"""


def page(title: str, body: list[str]) -> str:
    """A whole page; the body is HTML, in which all text of students has been escaped."""
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
    head += '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return "\n".join(
        [f'<!doctype html><html lang="en"><head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>']
        + [f"<body><main><h1>{escape(title)}</h1>", *body, "</main></body></html>", ""]
    )


def table(header: list[str], rows: list[list[str]], numbers: Collection[int] = ()) -> str:
    """A table of cells that are HTML."""
    kinds = [' class="n"' if place in numbers else "" for place in range(len(header))]
    lines = ["<tr>" + "".join(f"<th{kind}>{cell}</th>" for kind, cell in zip(kinds, header)) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, row)) + "</tr>" for row in rows]
    return '<div class="wide"><table>' + "\n".join(lines) + "</table></div>"


# -- for a student --------------------------------------------------------------------------------------------------


def feedback(one: Marked, assignments: Iterable[str]) -> str:
    """The page of one student."""
    body = []
    for assignment, result in one.results.items():
        if assignment not in assignments:
            continue
        total, points = one.total(assignment), sum(task["points"] for task in result["tasks"])
        so_far = sum(task["score"] or 0 for task in result["tasks"])
        known = f"{number(so_far if total is None else total)} of {points:g} points"
        body.append(f"<h2>{escape(assignment)}: {known}{'' if total is not None else ' so far'}</h2>")
        late = [result["late"]["says"]] if result.get("late") else []
        body += [f"<p>{escape(remark)}</p>" for remark in result["remarks"] + late]
        # Where a file could not be marked, the remark has said why: no task says it again.
        for task in result["tasks"]:
            body += _about_task(task) if task["what"] != NOT_GRADED else []
    if not one.results:
        body.append("<p>Nothing was handed in.</p>")
    return page(f"Feedback for {one.student}", body)


def as_notebook(one: Marked, assignment: str) -> str:
    """The same as a notebook: Canvas shows feedback under the name of the file that was handed in."""
    cells = [new_markdown_cell(f"# Feedback for {escape(one.student)}")]
    result = one.results[assignment]
    late = [result["late"]["says"]] if result.get("late") else []
    cells += [new_markdown_cell(escape(remark)) for remark in result["remarks"] + late]
    for task in result["tasks"]:
        score = "to be read" if task["score"] is None else f"{number(task['score'])} of {task['points']:g}"
        says = task.get("comment") or task["says"] or ("" if task["by hand"] else "Right.")
        cells.append(new_markdown_cell(f"### {escape(task['title'])} – {score}\n\n{escape(says)}"))
        if answer := task["answer"]:
            cells.append(new_markdown_cell(answer) if task["by hand"] else new_code_cell(answer))
    for place, cell in enumerate(cells):
        cell.id = f"feedback-{place}"  # else by chance, and a second run would write other bytes
    return nbformat.writes(new_notebook(cells=cells))


def write_feedback(folder: Path, marked: list[Marked], assignments: list[Assignment]) -> None:
    """The pages of all students, and for each assignment the zips that Moodle and Canvas take back.

    Moodle finds a student by the number in the folder's name, in which the full name ends at the first underscore;
    Canvas by the two numbers in the file's name, which has to be that of the download.
    """
    for one in marked:
        write(folder / f"{one.slug}.html", feedback(one, one.results))
    for assignment in assignments:
        found: dict[str, dict[str, str]] = {"moodle": {}, "canvas": {}}
        for one in marked:
            result = one.results.get(assignment.name, {})
            if result.get("participant"):
                name = re.sub(r"[\W_]+", " ", one.student).strip()
                path = f"{name}_{result['participant']}_assignsubmission_file/{assignment.name}-feedback.html"
                found["moodle"][path] = feedback(one, [assignment.name])
            if result.get("download", "").endswith(".ipynb"):
                found["canvas"][result["download"]] = as_notebook(one, assignment.name)
        for platform, files in found.items():
            place = folder.parent / f"feedback-{platform}-{assignment.name}.zip"
            if files:
                write_zip(place, files)


def _about_task(task: dict[str, Any]) -> list[str]:
    score = "to be read" if task["score"] is None else f"{number(task['score'])} of {task['points']:g}"
    lines = [f"<h3>{escape(task['title'])} – {score}</h3>"]
    if task.get("comment"):
        lines.append(f'<p class="says open">{escape(task["comment"])}</p>')
    if "tests gave" in task:
        lines.append(f"<p>The tests gave {number(task['tests gave'])}; the mark was set by hand.</p>")
    if task["says"] and not ("tests gave" in task or task.get("comment")):
        lines.append(f'<p class="says">{escape(task["says"])}</p>')
    elif task["score"] is not None and not task["by hand"] and "tests gave" not in task:
        lines.append('<p class="says right">Right.</p>')
    if task["answer"]:
        lines += ["<p>Your answer:</p>", _answer(task)]
    return lines + [html for output in task["outputs"] if (html := _output(output))]


def _answer(task: dict[str, Any]) -> str:
    """Code as it was typed, words as they were meant."""
    return f'<div class="words">{task["page"]}</div>' if task.get("page") else f"<pre>{escape(task['answer'])}</pre>"


def _output(output: dict[str, Any]) -> str:
    """An output of a student's cell: text, or a picture that has been looked at."""
    if output["output_type"] == "error":
        return f"<pre>{escape(output['ename'])}: {escape(output['evalue'])}</pre>"
    if output["output_type"] == "stream":
        return f"<pre>{escape(output['text'][:5000])}</pre>"
    picture = output["data"].get("image/png")
    if picture:
        data = base64.b64encode(base64.b64decode(picture)).decode()
        return f'<img alt="A picture that your cell draws" src="data:image/png;base64,{data}">'
    return f"<pre>{escape(output['data'].get('text/plain', '')[:5000])}</pre>"


# -- for the instructor ---------------------------------------------------------------------------------------------


def write_report(
    folder: Path, marked: list[Marked], assignments: list[Assignment], missing: str, notes: list[str]
) -> None:
    """The report on the class, and the page of the answers that wait to be read."""
    body = [f"<p>{escape(note)}</p>" for note in notes]
    body += ["<h2>Who needs a look by hand</h2>", _looks(marked)]
    for assignment in assignments:
        results = [one.results[assignment.name] for one in marked if one.handed_in(assignment.name)]
        body += [f"<h2>{escape(assignment.name)}</h2>", _bars(assignment, results), _mistakes(assignment, results)]
        body += _alike(assignment, marked)
    body += ["<h2>Marks</h2>", _totals(marked, assignments, missing)]
    write(folder / "report.html", page("Report on the class", body))
    write(folder / "by_hand.html", page("Answers to be read", _to_read(marked, assignments)))


def _looks(marked: list[Marked]) -> str:
    rows = [[_link(one), "<br>".join(escape(remark) for remark in one.remarks())] for one in marked if one.remarks()]
    waiting = sum(one.waiting() for one in marked)
    first = f'<p><a href="by_hand.html">Answers to be read: {waiting}</a>; their scores go into by_hand.csv.</p>'
    return (first if waiting else "") + (table(["student", "why"], rows) if rows else "<p>No submission was odd.</p>")


def _link(one: Marked) -> str:
    return f'<a href="feedback/{escape(one.slug)}.html">{escape(one.student)}</a>'


def _bars(assignment: Assignment, results: list[dict[str, Any]]) -> str:
    """For each task how many have all points, some, none, or wait to be read: the plot of the marks."""
    rows = []
    for task in assignment.tasks:
        scores = [found["score"] for found in _of(task.name, results)]
        full = sum(score == task.points for score in scores)
        none, waiting = scores.count(0), scores.count(None)
        parts = {"good": full, "part": len(scores) - full - none - waiting, "bad": none, "none": waiting}
        known = [score for score in scores if score is not None]
        mean = f"{sum(known) / len(known):.2f} of {task.points:g}" if known else ""
        summary = f"{full} of {len(scores)} have all points, {none} none, {waiting} wait to be read"
        bar = "".join(
            f'<i class="{kind}" style="width:{100 * count / max(len(scores), 1):.1f}%"></i>'
            for kind, count in parts.items()
        )
        lengths = [len(found["answer"].split()) for found in _of(task.name, results) if found["answer"]]
        length = f"{median(lengths):g}" if lengths else ""
        picture = f'<div class="bar" role="img" aria-label="{summary}">{bar}</div>'
        rows.append([escape(task.title), picture, str(full), mean, _agreement(task.name, results), length])
    key = "".join(
        f'<i class="{kind}"></i>{word}'
        for kind, word in {"good": "all points", "part": "some", "bad": "none", "none": "to be read"}.items()
    )
    header = ["task", "submissions", "all points", "mean", "with the rest", "words (median)"]
    return f'{table(header, rows, {2, 3, 4, 5})}<p class="key">Of {len(results)}: {key}</p>'


def _agreement(task: str, results: list[dict[str, Any]]) -> str:
    """The correlation of a task's scores with the points for all others; of fewer than ten students it says nothing."""
    pairs = []
    for result in results:
        scores = {one["task"]: one["score"] for one in result["tasks"]}
        own = scores.pop(task, None)
        if own is not None:
            pairs.append((own, sum(score or 0 for score in scores.values())))
    try:
        return f"{correlation(*zip(*pairs)):.2f}" if len(pairs) >= 10 else ""
    except StatisticsError:  # all have the same
        return ""


def _of(task: str, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a task has brought to each who handed it in; an older result may not have it."""
    return [found for result in results for found in result["tasks"] if found["task"] == task]


def _mistakes(assignment: Assignment, results: list[dict[str, Any]]) -> str:
    """The commonest mistakes of each task, with their shares; what was not marked holds none."""
    rows = []
    for task in assignment.tasks:
        found = _of(task.name, results)
        made = Counter(one["what"] for one in found if one["what"] not in ("", NOT_GRADED))
        for what, count in made.most_common(5):
            says = next(one["says"] for one in found if one["what"] == what)
            share = f"{100 * count / len(results):.0f}%"
            rows.append([escape(task.title), escape(what), str(count), share, escape(says[:300])])
    rows.sort(key=lambda row: -int(row[2]))
    header = ["task", "mistake", "students", "share", "what one of them was told"]
    return "<h3>Commonest mistakes</h3>" + (table(header, rows, {2, 3}) if rows else "<p>None.</p>")


def _alike(assignment: Assignment, marked: list[Marked]) -> list[str]:
    """Who has answered nearly the same, where the answer is long and not the usual one."""
    rows = []
    for task in assignment.tasks:
        found = {one.student: answer["answer"] for one in marked if (answer := one.task(assignment.name, task.name))}
        for one, other, share in alike(found, assignment.cells[task.answer].source):
            rows.append([escape(task.title), escape(one), escape(other), f"{100 * share:.0f}%"])
    return ["<h3>Answers that are alike</h3>", table(["task", "", "", "share"], rows, {3})] if rows else []


def _totals(marked: list[Marked], assignments: list[Assignment], missing: str) -> str:
    names = [assignment.name for assignment in assignments]
    rows = []
    for one in marked:
        cells = []
        for name in names:
            total = one.total(name, missing)
            waits = one.handed_in(name) and total is None
            cells.append("to be read" if waits else "–" if total is None else number(total))
        rows.append([_link(one), *cells])
    return table(["student", *map(escape, names)], rows, set(range(1, len(names) + 1)))


def _to_read(marked: list[Marked], assignments: list[Assignment]) -> list[str]:
    """Task by task: the model answer with its rubric, then what each student wrote."""
    body = ["<p>Write the scores and comments into by_hand.csv, then run the same command again.</p>"]
    for assignment in assignments:
        for task in assignment.tasks:
            if not task.by_hand:
                continue
            model = re.sub(r"### (BEGIN|END) SOLUTION\n?", "", assignment.cells[task.cell].source).strip()
            body += [f"<h2>{escape(assignment.name)}: {escape(task.title)}</h2>", f"<pre>{escape(model)}</pre>"]
            for one in marked:
                found = one.task(assignment.name, task.name)
                if found and found["what"] not in ("no answer", NOT_GRADED):
                    score = f": {number(found['score'])} of {task.points:g}" if found["score"] is not None else ""
                    body += [f"<h3>{escape(one.student)}{score}</h3>", _answer(found)]
                    if was := found.get("was"):
                        body.append(f"<p>The answer has changed. This one had {number(was['score'])}:</p>")
                        body.append(f"<pre>{escape(was['answer'])}</pre>")
    return body
