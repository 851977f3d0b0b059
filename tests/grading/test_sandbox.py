"""The walls, and what is done where code ends, hangs or floods."""

from __future__ import annotations

import base64
import os
import pickle
import re
import signal
import subprocess
import threading
import time
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path

import nbformat
import pytest

from grading import seccomp
from grading.course import prepared
from grading.run import Job, marked, self_check
from grading.sandbox import Limits, Sandbox, Stopped, used_by
from grading.student import Missing, Remote, Student, clean
from tests.grading import small
from tests.grading.hostile import MEMORY

SHORT = Limits(seconds=2, memory=400, patience=6)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("walls")]


@pytest.fixture(scope="module")
def inside(walls):
    """A sandbox, and what one of its cells prints."""
    sandbox = Sandbox(SHORT)
    sandbox.ask({"do": "run", "source": "import subprocess\nfrom pathlib import Path"})

    def printed(source: str) -> str:
        outputs = sandbox.ask({"do": "run", "source": source})["outputs"]
        return "".join(output.get("text", "") + output.get("evalue", "") for output in outputs)

    yield printed
    sandbox.close()


def test_what_can_be_written_is_little(inside):
    assert inside("Path('mine').write_text('1'); print(Path('mine').read_text())") == "1\n"
    assert "No space left" in inside("for n in range(9): Path(f'f{n}').write_bytes(bytes(30 << 20))")


def test_honest_code_finds_what_it_needs(inside):
    """Processes, pipes, programs, locks between threads, a clock's zone."""
    pool = (
        "import concurrent.futures as futures\nwith futures.ProcessPoolExecutor(2) as pool: print(*pool.map(abs, [-1]))"
    )
    assert inside(pool) == "1\n"
    assert inside("print(subprocess.run('echo a | cat', shell=True, capture_output=True).stdout)") == "b'a\\n'\n"
    assert inside("!echo b").strip() == "b"
    assert inside("import zoneinfo; print(zoneinfo.ZoneInfo('Europe/Berlin'))") == "Europe/Berlin\n"


@pytest.mark.parametrize(
    ("column", "header"),
    [(0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), (1, "/usr/include/asm-generic/unistd.h")],
)
def test_the_numbers_of_system_calls_are_the_kernels(column, header):
    """The second header holds those of AArch64, whatever the machine is."""
    if not Path(header).exists():
        pytest.skip(f"no {header}: on Debian, apt install linux-libc-dev")
    text = Path(header).read_text()
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    closer = ("clone", "socket", "mmap", "setsockopt", "fcntl", "prctl")
    ours = (
        seccomp.CLOSED | {name: getattr(seccomp, name.upper()) for name in closer} | {"clone3": (seccomp.CLONE3,) * 2}
    )
    assert {name: numbers[column] for name, numbers in ours.items() if numbers[column] != known.get(name)} == {}


def test_rights_are_given_up():
    sandbox = Sandbox(SHORT)
    sandbox.ask({"do": "run", "source": ""})
    (inner,) = [int(one) for one in children_of(*children_of(str(sandbox._process.pid)))]
    status = Path(f"/proc/{inner}/status").read_text()
    assert "CapEff:\t0000000000000000" in status and "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
    assert "Uid:\t0" not in status
    sandbox.close()


def children_of(pid: str) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_nothing_lives_on():
    """A process that has turned away from its parent ends all the same, and so does what it starts."""
    sandbox = Sandbox(SHORT)
    turned = "import os, signal, time\nif not os.fork():\n    os.setsid()\n    signal.signal(15, signal.SIG_IGN)\n"
    sandbox.ask({"do": "run", "source": turned + "    if not os.fork(): time.sleep(999)\n    os._exit(0)"})
    inner = os.readlink(f"/proc/{children_of(str(sandbox._process.pid))[0]}/ns/pid")
    assert len(those_in(inner)) >= 3
    sandbox.close()
    until = time.monotonic() + 10
    while those_in(inner) and time.monotonic() < until:
        time.sleep(0.1)
    assert those_in(inner) == []


def those_in(namespace: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found += [folder.name] if os.readlink(folder / "ns" / "pid") == namespace else []
    return found


EVERYWHERE = "import contextlib, os\nfor n in range(3, 256):\n    with contextlib.suppress(OSError): os.write(n,"
#: What has to be stopped, and what is said. Memory counts wherever it lies, time whoever takes it.
ENDLESS = {
    "loop": ("while True: pass", "took more than 2 s"),
    "loop in a child": ("import os\nif not os.fork():\n    while True: pass\nos.wait()", "took more than 2 s"),
    "loops in children that nobody waits for": (
        "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile True:\n    if not os.fork():\n"
        "        until = time.process_time() + 0.6\n        while time.process_time() < until: pass\n"
        "        os._exit(0)\n    time.sleep(0.3)",
        "took more than 2 s",
    ),
    "sleep": ("import time; time.sleep(999)", "gave no answer for"),
    "stop": ("import os; os.kill(os.getpid(), 19)", "gave no answer for"),
    "exit": ("import os; os._exit(3)", r"ended the program \(exit status 3\)"),
    "memory": (MEMORY, "took more than 400 MB"),
    "memory of children": (
        "import os, time\nfor n in range(30):\n    if not os.fork(): x = b'1' * 50_000_000; break\ntime.sleep(99)",
        "took more than 400 MB",
    ),
    "empty files": ("n = 0\nwhile True: open(f'/tmp/{n}', 'w').close(); n += 1", "took more than (400 MB|2 s)"),
    "sockets": (
        "import os, socket, time\nkept = []\nfor n in range(40):\n    if not os.fork():\n        while True:\n"
        "            try: kept.extend(socket.socketpair())\n            except OSError: time.sleep(99)\ntime.sleep(99)",
        "took more than 400 MB",
    ),
    "flood": (f"{EVERYWHERE} b'\\xff' * 99)", "gave more"),
    "nonsense": (f"{EVERYWHERE} b'\\0\\0\\0\\2[]')", "broke"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDLESS)
def test_code_that_has_to_be_stopped(name):
    source, why = ENDLESS[name]
    sandbox = Sandbox(SHORT)
    sandbox.ask({"do": "run", "source": ""})
    with pytest.raises(Stopped, match=why):
        sandbox.ask({"do": "run", "source": source})
    assert sandbox._process.poll() is not None


def test_memory_counts_while_nothing_is_asked():
    """A thread that waits until the tests are busy."""
    sandbox = Sandbox(SHORT)
    grow = (
        "import threading, time\ndef grow(): time.sleep(0.5); x = [b'1' * 10**7 for _ in range(50)]; time.sleep(99)\n"
    )
    sandbox.ask({"do": "run", "source": grow + "threading.Thread(target=grow, daemon=True).start()"})
    sandbox._process.wait(30)
    with pytest.raises(Stopped, match="took more than 400 MB of memory"):
        sandbox.ask({"do": "run", "source": "1"})


def test_an_answer_of_a_process_that_is_being_ended_does_not_count():
    """It may still speak between the moment in which a limit is passed and its end."""
    sandbox = Sandbox(SHORT)
    sandbox.ask({"do": "run", "source": ""})
    sandbox._why = "took more than 400 MB of memory"
    with pytest.raises(Stopped, match="took more than 400 MB of memory"):
        sandbox.ask({"do": "run", "source": "1"})
    assert sandbox._process.poll() is not None


def test_the_disk_of_the_machine_is_nobodys_memory():
    """For a moment the process behind the walls has a network of its own, and still the machine's folders."""
    program = ["sh", "-c", "echo there; exec sleep 60"]
    unshare = ["unshare", "--map-root-user", "--net", "--mount", "--kill-child", *program]
    with subprocess.Popen(unshare, stdout=subprocess.PIPE) as early:
        try:
            assert early.stdout.readline() == b"there\n"
            (child,) = children_of(str(early.pid))
            assert os.readlink(f"/proc/{child}/ns/net") != os.readlink("/proc/self/ns/net")
            assert used_by(early.pid, 1 << 60)[1] < 50 << 20
        finally:
            early.kill()


def test_walls_that_do_not_stand_are_not_held_against_the_student(monkeypatch):
    monkeypatch.setattr("grading.sandbox._walls", lambda rules: ["false"])
    student = Student(SHORT)
    # Which of the two depends on whether the process has ended before it is asked or after.
    why = r"no code can run here: an empty cell (ended the program|broke the connection)"
    with pytest.raises(RuntimeError, match=why):
        student.run("1 + 1")


def test_waiting_is_counted_for_a_whole_notebook():
    """Whoever sleeps in every cell keeps a worker busy no longer than in one."""
    student = Student(SHORT)
    began = time.monotonic()
    for _ in range(8):
        student.run("import time; time.sleep(999)")
    assert student.idle < SHORT.patience + 3
    assert time.monotonic() - began < 60
    student.close()


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


def test_a_part_of_a_task_has_points_of_its_own(course, tmp_path):
    text = nbformat.writes(course[1]["second"].source)
    notebook = nbformat.reads(text, as_version=4)
    part = small.cell("code", "second-tall-test-nobody", NOBODY_TEST, grade=True, points=1)
    notebook.cells.append(part)
    nbformat.write(notebook, tmp_path / "second.ipynb")
    second = prepared(tmp_path / "second.ipynb", tmp_path / "course")
    assert self_check(second, SHORT) == []
    half = {"second-tall": "def tall(people):\n    return people.index[people['cm'] > 180] if len(people) else None"}
    job = Job("half", second, nbformat.writes(small.answered(second.release, half)).encode(), tmp_path / "half.json")
    ((_, result),) = marked([job], SHORT)
    assert [(task["task"], task["title"], task["score"], task["points"]) for task in result["tasks"]] == [
        ("second-tall", "1. Tall", 2, 2),
        ("second-tall-nobody", "1. Tall: nobody", 0, 1),
    ]


NOBODY_TEST = """\
check("tall", pd.DataFrame({"cm": []}), gives=[])
### BEGIN HIDDEN TESTS
check("tall", pd.DataFrame({"cm": [1]})[:0], gives=[])
### END HIDDEN TESTS"""


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
