"""What hostile cells try inside the walls. As a program it tries all, wherever this folder lies and whoever runs it.

Each probe prints `held`, or what it got.
"""

# ruff: noqa: E501, a probe is a line

from __future__ import annotations

import json

from grading.sandbox import Limits, Sandbox, bubblewrap
from scripts.exercises import ROOT

SETUP = f"""\
import ctypes, errno, fcntl, glob, json, mmap, os, re, resource, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
ARM = os.uname().machine == "aarch64"
def call(x86, arm, *arguments):
    number = arm if ARM else x86
    ctypes.set_errno(0)
    return libc.syscall(number, *arguments), ctypes.get_errno()
def closed(*calls):
    found = [(one, call(*one)) for one in calls]
    print([pair for pair in found if pair[1][0] != -1 or pair[1][1] not in (errno.EPERM, errno.ENOSYS)] or "held")
def refused(function, *words):
    try:
        print(function(*words))
    except (OSError, ValueError):
        print("held")
HERE = {str(ROOT)!r}
"""

PROBES = {
    # reading
    "solutions by path": "print([one for one in ('book', 'tests', '_build') if os.path.exists(HERE + '/' + one)] or 'held')",
    "solutions by search": """\
found, sought = [], {"id3.ipynb", "id3.toml", "gradebook.db", "marks.csv"}
for top, folders, names in os.walk("/"):
    folders[:] = [one for one in folders if one not in ("site-packages", "dist-packages")]
    found += [os.path.join(top, name) for name in names if name in sought]
print(found or "held")""",
    "solutions beside what is imported": """\
import grading, treekit
folders = [os.path.dirname(one.__file__) + "/.." for one in (grading, treekit)] + sys.path
print([one for one in folders for _ in glob.glob(one + "/book/exercises/*") + glob.glob(one + "/tests/*")] or "held")""",
    "homes and shares": """\
python = {os.path.normpath(one) for one in (sys.prefix, sys.base_prefix, sys._base_executable, os.path.expanduser("~"))}
places = glob.glob("/home/*") + glob.glob("/root/*") + ["/usr/local/share", "/var", "/etc/passwd", "/srv", "/sys", "/usr/src"]
print([one for one in places if os.path.exists(one) and not any(x.startswith(one) for x in python)] or "held")""",
    "other processes": "refused(os.listdir, '/proc')",
    "the environment": "print([one for one in os.environ if re.search('TOKEN|SECRET|PYTEST|USER|VIRTUAL_ENV', one)] or 'held')",
    # writing
    "packages": "refused(open, json.__file__, 'a')",
    "the book's package": "refused(open, '/book/treekit/measures.py', 'a')",
    "programs": "refused(open, '/usr/bin/evil', 'w')",
    "other mounts": "closed((165, 40, b'proc', b'/tmp', b'proc', 0, 0), (165, 40, b'', b'/', b'', 32 | 4096, 0), (161, 51, b'/tmp'))",
    "newer mounts": "closed((442, 442, -100, b'/', 0, 0, 0), (428, 428, -100, b'/', 1), (430, 430, b'tmpfs', 0), (166, 39, b'/tmp', 2))",
    # namespaces
    "by unshare": "closed(*((272, 97, flag) for flag in (0x10000000, 0x10020000, 0x00020000, 0x40000000, 0x20000000)))",
    "by clone": "closed(*((56, 220, flag | 17, 0, 0, 0, 0) for flag in (0x10000000, 0x10020000, 0x20000000)))",
    "by clone3": "closed((435, 435, ctypes.create_string_buffer(88), 88), (308, 268, 0, 0))",
    "by a program": "print('held' if subprocess.run(['unshare', '-Ur', 'true'], capture_output=True).returncode else 'root')",
    "by becoming root": "refused(os.setuid, 0) if os.getuid() else print('root')",
    # the kernel's odd corners
    "keys": "closed((250, 219, 0, -3, 1), (248, 217, b'user', b'a', b'b', 1, -3), (249, 218, b'user', b'a', None, 0))",
    "rings": "closed((425, 425, 8, ctypes.create_string_buffer(120)), (206, 0, 8, ctypes.create_string_buffer(8)))",
    "programs in the kernel": "closed((321, 280, 0, 0, 0), (298, 241, ctypes.create_string_buffer(120), 0, -1, -1, 0))",
    "faults and traces": "closed((323, 282, 1), (101, 117, 0, 0, 0, 0), (310, 270, 1, 0, 0, 0, 0, 0), (135, 92, 0x40000))",
    "calls of another kind": "print('held' if ARM or libc.syscall(0x40000000 | 272, 0x10000000) == -1 else 'x32')",
    "calls not known yet": "closed((463, 463), (470, 470), (9999, 9999))",
    # memory that counts for nobody
    "files without a name": "closed((319, 279, b'a', 0), (447, 447, 0))",
    "shared pages": "refused(mmap.mmap, -1, 1 << 20)",
    "shared zeros": "refused(lambda: mmap.mmap(os.open('/dev/zero', os.O_RDWR), 1 << 20))",
    "queues": "closed((29, 194, 0, 1 << 20, 0o1600), (68, 186, 0, 0o1600), (64, 190, 0, 9, 0o1600), (240, 180, b'a', 66, 0, 0))",
    "locks": "refused(fcntl.lockf, open('lock', 'w'), fcntl.LOCK_EX, 1, 0)",
    "watches": "closed((294, 26, 0))",
    "wide sockets": "refused(socket.socketpair()[0].setsockopt, socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)",
    "hiding from the watch": "closed((157, 167, 4, 0, 0, 0, 0))",
    "more processes": "print('held' if resource.getrlimit(resource.RLIMIT_NPROC)[1] == 64 else 'more')",
    "higher limits": "refused(resource.setrlimit, resource.RLIMIT_NPROC, (999, 999))",
    # the network
    "sockets": """\
got = []
for kind in [(f, k, p) for f in (2, 10, 16, 17, 38, 40, 44) for k in (1, 2, 3, 5) for p in (0, 1, 3)]:
    try:
        got.append(socket.socket(*kind))
    except OSError:
        pass
print(got or "held")""",
    "sockets without a file": "refused(lambda: socket.socket(socket.AF_UNIX).connect('\\0/tmp/.X11-unix/X0'))",
}  # fmt: skip


def tried() -> dict[str, str]:
    """What each probe printed."""
    sandbox = Sandbox(Limits(seconds=10, memory=800))
    try:
        found = {}
        for name, source in {"": SETUP, **PROBES}.items():
            outputs = sandbox.ask({"do": "run", "source": source})["outputs"]
            found[name] = "".join(one.get("text", "") + one.get("evalue", "") for one in outputs).strip()
        return found
    finally:
        sandbox.close()


if __name__ == "__main__":
    why = bubblewrap()
    print(json.dumps({"walls": why} if why else tried()))
