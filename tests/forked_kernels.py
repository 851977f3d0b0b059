"""Kernels, and processes that run cells without one, forked from a process that has already imported what they will.

So a notebook starts in an instant. nbgrader and nbval start their kernels through jupyter_client. Here the one call
that starts a program is replaced, nothing else: a forked kernel has the working directory, the variables and the search
path of one that was started.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from contextlib import contextmanager
from multiprocessing import forkserver
from unittest.mock import patch

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *("__main__", "tests.forked_kernels", "ipykernel.kernelapp", "ipykernel.debugger"),
        *("treekit", "treekit.datasets", "treekit.exercises", "matplotlib.pyplot", "grading.shell"),
        *("sklearn.datasets", "sklearn.ensemble", "sklearn.model_selection", "sklearn.tree"),
        "grading.preload",
    ]
)
#: Where the server that forks looks for modules. It starts as a kernel does; a forked process would inherit the tests'
#: own path, on which lie modules that no reader's kernel finds.
SEARCH_PATH = list(sys.path)


def run_kernel(connection_file: str, folder: str, variables: dict[str, str], ready) -> None:
    """Be a kernel, in the forked process."""
    gc.freeze()  # what is shared with the server stays shared: the collector of garbage would write on all of it
    import pandas as pd
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()  # jupyter_client ends a kernel's whole group: without one of its own, that is the tests' group
    ready.set()
    os.environ.update(variables)
    os.chdir(folder)
    sys.path[:] = SEARCH_PATH
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # its log
    pd.set_option("display.max_columns", 20)  # pandas has chosen 0, for a terminal: no notebook was there at its import
    IPKernelApp.launch_instance(argv=["-f", connection_file])
    os._exit(0)  # at once: a kernel's threads would keep the process for seconds


def outputs_without_kernel(sources: list[str], folder: str, patience: float) -> list[list[dict]]:
    """The outputs of some cells, run one after the other in a forked process that is no kernel and so starts at once.

    Parameters
    ----------
    sources : list of str
        The cells.
    folder : str
        The working directory.
    patience : float
        Seconds for all of them.
    """
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=run_cells, args=(sources, folder, theirs), daemon=True)
    process.start()
    assert ours.poll(patience), "the cells take too long"
    outputs = ours.recv()
    process.join()
    return outputs


def run_cells(sources: list[str], folder: str, answer) -> None:
    """Send the outputs of some cells, from the forked process."""
    gc.freeze()
    from grading.shell import Shell

    os.chdir(folder)
    sys.path[:] = SEARCH_PATH
    shell = Shell(folder)
    answer.send([shell.run(source) for source in sources])


class ForkedKernel:
    """A forked kernel with the methods of a `subprocess.Popen` that jupyter_client calls."""

    stdin = stdout = stderr = None

    def __init__(self, command: list[str], *, env: dict[str, str], cwd: str, **ignored) -> None:
        ready = CONTEXT.Event()
        connection_file = command[command.index("-f") + 1]
        self.process = CONTEXT.Process(target=run_kernel, args=(connection_file, cwd, dict(env), ready))
        self.process.start()
        self.pid = self.process.pid
        assert ready.wait(timeout=60)

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, signal: int) -> None:
        os.kill(self.pid, signal)

    def terminate(self) -> None:
        self.process.terminate()

    def kill(self) -> None:
        self.process.kill()


def start_server() -> None:
    """Start the server now, with all of its modules.

    A process has a single one, which keeps what it was started with: `grading.run.marked`, if it came first, would
    start it for what marks alone, and every kernel would import the rest for itself.
    """
    forkserver.ensure_running()


@contextmanager
def forked_kernels():
    """Within this context all kernels are forked."""
    with patch("jupyter_client.provisioning.local_provisioner.launch_kernel", ForkedKernel):
        yield
