"""The walls, and what is done where code ends, hangs or floods."""

from __future__ import annotations

import base64
import os
import pickle
import signal
import threading
import time
from multiprocessing import active_children

import nbformat
import pytest

from grading.course import prepared
from grading.run import Job, marked, self_check
from grading.sandbox import Limits, Sandbox, Stopped
from grading.student import Missing, Remote, Student, clean
from scripts.exercises import ROOT

SHORT = Limits(seconds=2, memory=500, patience=1)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("walls")]


@pytest.fixture(scope="module")
def inside(walls):
    """A sandbox, and what one of its cells prints."""
    sandbox = Sandbox(SHORT)
    sandbox.ask({"do": "run", "source": "import os, socket, resource, subprocess, sys\nfrom pathlib import Path"})

    def printed(source: str) -> str:
        outputs = sandbox.ask({"do": "run", "source": source})["outputs"]
        return "".join(output.get("text", "") + output.get("evalue", "") for output in outputs)

    yield printed
    sandbox.close()


def test_only_the_book_s_packages_are_there(inside):
    assert inside("print(sorted(os.listdir('/book')))") == "['grading', 'treekit']\n"
    for path in (ROOT / "book", ROOT / "tests", "/etc/passwd", "/root/.ssh", "/var", "/home/student/x"):
        assert inside(f"print(os.path.exists({str(path)!r}))") == "False\n"


def test_nothing_outside_its_own_folder_can_be_written(inside, tmp_path):
    for path in ("/x", "/book/x", "/usr/x", "/dev/x", "/book/treekit/measures.py", tmp_path / "x"):
        message = inside(f"open({str(path)!r}, 'w')")
        assert "Read-only file system" in message or "Permission denied" in message or "No such file" in message
    assert inside("Path('mine').write_text('1'); print(Path('mine').read_text())") == "1\n"
    assert "No space left" in inside("for n in range(9): Path(f'f{n}').write_bytes(bytes(30 << 20))")


def test_there_is_no_network(inside):
    message = inside("socket.create_connection(('192.0.2.1', 80), 1)")
    assert "Network is unreachable" in message
    assert inside("print(os.listdir('/sys') if os.path.exists('/sys') else 'no')") == "no\n"


def test_rights_are_given_up(inside):
    assert inside("print(os.getuid() != 0 or os.geteuid() != 0)") == "True\n"
    status = inside("print(Path('/proc/self/status').read_text())")
    assert "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status
    assert "[Errno" in inside("os.setuid(0)")
    assert inside("print(resource.getrlimit(resource.RLIMIT_NPROC))") == "(64, 64)\n"
    assert "not allowed" in inside("resource.setrlimit(resource.RLIMIT_NPROC, (999, 999))")


def test_other_processes_are_out_of_sight(inside):
    seen = inside("print(len([p for p in os.listdir('/proc') if p.isdigit()]))")
    assert int(seen) <= 3
    assert "No such process" in inside(f"os.kill({os.getpid()}, 9)")
    assert set(inside("print(*os.environ)").split()) <= {
        "PATH", "LANG", "HOME", "PWD", "PYTHONPATH", "MPLBACKEND", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
        "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "IPYTHONDIR", "KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK",
    }  # fmt: skip


@pytest.mark.parametrize(
    "source, why",
    [
        ("while True: pass", "took more than 2 s"),
        ("import time; time.sleep(999)", "gave no answer for"),
        ("import os; os._exit(3)", r"ended the program \(exit status 3\)"),
        ("x = []\nwhile True: x.append(bytearray(10**7))", "took more than 500 MB"),
        (
            "import os\nfor n in range(3, 4000):\n    try: os.write(n, b'\\xff' * 99)\n    except OSError: pass",
            "gave more",
        ),
        (
            "import os\nfor n in range(3, 4000):\n    try: os.write(n, b'\\0\\0\\0\\2[]')\n    except OSError: pass",
            "broke",
        ),
    ],
    ids=["loop", "sleep", "exit", "memory", "flood", "nonsense"],
)
def test_code_that_has_to_be_stopped(monkeypatch, source, why):
    monkeypatch.setattr("grading.sandbox.START", 3)
    sandbox = Sandbox(SHORT)
    sandbox.ask({"do": "run", "source": ""})
    with pytest.raises(Stopped, match=why):
        sandbox.ask({"do": "run", "source": source})
    assert sandbox._process.poll() is not None


def test_a_stopped_student_goes_on_without_the_cell_at_fault():
    student = Student(SHORT)
    try:
        student.run("kept = 1\ndef double(x): return [2 * y for y in x]")
        (error,) = student.run("import os; lost = 2; os._exit(0)")
        assert error.ename == "Stopped" and "ended the program" in student.remarks[0]
        assert student.look_up("kept") == 1
        with pytest.raises(Missing):
            student.look_up("lost")
        double = student.look_up("double")
        assert isinstance(double, Remote) and double([1, 2]) == [2, 4]
        student.run("def apply(f, x): return f(x)\ndef fails(): return {}['key']")
        assert student.look_up("apply")(double, [3]) == [6]
        with pytest.raises(KeyError, match="in the line: def fails"):
            student.look_up("fails")()
    finally:
        student.close()


def test_outputs_are_cut_to_what_they_should_be():
    script = {"text/html": "<script>", "text/plain": "x", "image/png": "PHNjcmlwdD4="}
    kept = clean([{"output_type": "display_data", "data": script}, {"output_type": "evil"}, 5])
    assert len(kept) == 1 and dict(kept[0].data) == {"text/plain": "x"}
    assert clean("no list") == []
    (stream,) = clean([{"output_type": "stream", "name": "x", "text": "a" * 10**6}])
    assert stream.name == "stdout" and len(stream.text) == 100_000


def test_an_assignment_that_would_mark_wrongly_is_refused(course, tmp_path):
    text = (course[0] / "second.ipynb").read_text(encoding="utf-8")
    (tmp_path / "second.ipynb").write_text(text.replace("> 180", "> 149"), encoding="utf-8")
    (fault,) = self_check(prepared(tmp_path / "second.ipynb", tmp_path / "course"), SHORT)
    assert fault.startswith("second-tall: the solution earns 0 of 2.")


def test_a_process_that_dies_takes_no_other_with_it(course, tmp_path, monkeypatch):
    second = course[1]["second"]
    jobs = [Job(n, second, nbformat.writes(second.source).encode(), tmp_path / f"{n}.json") for n in "ab"]
    killed = []

    def tell(job, result, fresh):
        killed.append(result["tasks"][0]["score"])

    run = marked(jobs, SHORT, workers=1, tell=tell)

    def kill():
        until = time.monotonic() + 20
        while not active_children() and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(active_children()[0].pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = {job.title: result for job, result in run}
    thread.join()
    assert "exit status -9" in found["a"]["remarks"][0] and found["b"]["tasks"][0]["score"] == 2
    assert not (tmp_path / "a.json").exists()


def test_arguments_cross_the_wall_by_pickle_and_answers_do_not():
    sandbox = Sandbox(SHORT)
    try:
        sandbox.ask(
            {
                "do": "run",
                "source": "class Bad:\n    def __reduce__(self): return print, ('x',)\ndef f(x): return Bad()",
            }
        )
        arguments = base64.b64encode(pickle.dumps((({1: [2]},), {}))).decode()
        answer = sandbox.ask({"do": "call", "name": "f", "arguments": arguments})
        assert "a Bad can't be checked" in answer["not plain"]
    finally:
        sandbox.close()
