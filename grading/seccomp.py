"""The system calls that a cell of an exercise has no use for, closed by a filter that the kernel runs (seccomp).

Namespaces and permissions already keep a student's code in. The filter takes away what has opened such walls before,
and the memory that no process is charged for: files without a name, shared pages, queues, locks.
"""

from __future__ import annotations

import errno
import platform
import struct
from itertools import chain

__all__ = ["program"]

#: By name: the number of the call on x86-64 and on ARM, where one is missing. From 424 on they are the same everywhere.
CLOSED: dict[str, tuple[int, int | None]] = {
    # other namespaces and mounts
    "chroot": (161, 51), "mount": (165, 40), "pivot_root": (155, 41), "setns": (308, 268), "umount2": (166, 39),
    "unshare": (272, 97), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # other processes
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117),
    # parts of the kernel in which holes are found
    "add_key": (248, 217), "bpf": (321, 280), "fanotify_init": (300, 262), "io_setup": (206, 0),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "keyctl": (250, 219), "perf_event_open": (298, 241), "personality": (135, 92), "quotactl_fd": (443, 443),
    "request_key": (249, 218), "userfaultfd": (323, 282), "vmsplice": (278, 75),
    # memory that counts for nobody
    "inotify_init": (253, None), "inotify_init1": (294, 26), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "mq_open": (240, 180), "msgget": (68, 186), "semget": (64, 190), "shmget": (29, 194),
}  # fmt: skip
#: The calls that are looked at more closely, and what the kernel calls the machine.
CLONE, SOCKET, MMAP, SETSOCKOPT, FCNTL, PRCTL = (56, 220), (41, 198), (9, 222), (54, 208), (72, 25), (157, 167)
CLONE3, NEWEST = 435, 462
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

NEW_NAMESPACE = 0x7E020000  # all of clone's flags that begin with CLONE_NEW
AF_UNIX, SOL_SOCKET, SO_SNDBUF = 1, 1, 7
SHARED, ANONYMOUS = 1, 0x20
LOCKS = (6, 7, 37, 38)  # fcntl's F_SETLK, F_SETLKW and their two relatives
SET_DUMPABLE = 4  # prctl's: who is not dumpable hides how much memory it has

LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, ERROR, KILL = 0x7FFF0000, 0x00050000, 0x80000000
#: Where the kernel lays down the number of a call, the machine, and the low half of each argument.
NUMBER, MACHINE, ARGUMENT = 0, 4, 16

#: An instruction: its code, how many to skip if its test holds and if not, and its operand.
Instruction = tuple[int, int, int, int]
PASS: Instruction = (RETURN, 0, 0, ALLOW)
CLOSE: list[Instruction] = [(RETURN, 0, 0, ERROR | errno.EPERM)]


def program() -> bytes | None:
    """The filter for this machine, compiled as the kernel wants it; None for a machine whose numbers are not known."""
    if platform.machine() not in MACHINES:
        return None
    column, machine = MACHINES[platform.machine()]
    lines: list[Instruction] = [
        *_unless(MACHINE, EQUAL, machine, KILL),
        (LOAD, 0, 0, NUMBER),
        # clone3 hides its flags from a filter: without it, programs fall back on clone. Newer calls are not known yet.
        *_if(GREATER, NEWEST, [(RETURN, 0, 0, ERROR | errno.ENOSYS)]),
        *_if(EQUAL, CLONE3, [(RETURN, 0, 0, ERROR | errno.ENOSYS)]),
        *_if(EQUAL, CLONE[column], [_argument(0), *_if(ANY_BIT, NEW_NAMESPACE, CLOSE), PASS]),
        *_if(EQUAL, SOCKET[column], [*_unless(ARGUMENT, EQUAL, AF_UNIX, ERROR | errno.EAFNOSUPPORT), PASS]),
        *_if(EQUAL, MMAP[column], _both(3, (ANY_BIT, SHARED), 3, (ANY_BIT, ANONYMOUS))),
        *_if(EQUAL, SETSOCKOPT[column], _both(1, (EQUAL, SOL_SOCKET), 2, (EQUAL, SO_SNDBUF))),
        *_if(EQUAL, FCNTL[column], [_argument(1), *chain(*(_if(EQUAL, lock, CLOSE) for lock in LOCKS)), PASS]),
        *_if(EQUAL, PRCTL[column], [_argument(0), *_if(EQUAL, SET_DUMPABLE, CLOSE), PASS]),
    ]
    for numbers in CLOSED.values():
        if (number := numbers[column]) is not None:
            lines += _if(EQUAL, number, CLOSE)
    return b"".join(struct.pack("<HBBI", *line) for line in [*lines, PASS])


def _if(test: int, operand: int, then: list[Instruction]) -> list[Instruction]:
    """Do something if what was loaded last passes a test."""
    return [(test, 0, len(then), operand), *then]


def _unless(place: int, test: int, operand: int, result: int) -> list[Instruction]:
    """Load something, and return if it fails a test."""
    return [(LOAD, 0, 0, place), (test, 1, 0, operand), (RETURN, 0, 0, result)]


def _argument(place: int) -> Instruction:
    """Load an argument of the call."""
    return LOAD, 0, 0, ARGUMENT + 8 * place


def _both(first: int, one: tuple[int, int], second: int, other: tuple[int, int]) -> list[Instruction]:
    """Close a call if two of its arguments, or two bits of one, pass a test each; else let it pass."""
    return [_argument(first), *_if(*one, [_argument(second), *_if(*other, CLOSE)]), PASS]
