"""Kernels forked from a process that has already imported treekit, so that a notebook starts in a fraction of the time.

nbgrader starts its kernels through jupyter_client. Here the one call that starts a program is replaced, nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
from contextlib import contextmanager
from unittest.mock import patch

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["__main__", "treekit", "ipykernel.kernelapp"])


def run_kernel(connection_file: str, folder: str, variables: dict[str, str], ready) -> None:
    """Be a kernel, in the forked process."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()  # jupyter_client ends a kernel's whole group: without one of its own, that is the tests' group
    ready.set()
    os.environ.update(variables)
    os.chdir(folder)
    IPKernelApp.launch_instance(argv=["-f", connection_file])
    os._exit(0)  # at once: a kernel's threads would keep the process for seconds


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


@contextmanager
def forked_kernels():
    """Within this context all kernels are forked."""
    with patch("jupyter_client.provisioning.local_provisioner.launch_kernel", ForkedKernel):
        yield
