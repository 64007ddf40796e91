"""Starts a browser in a separate network; run by its path, with nothing of Nacre imported.

A separate process, since a process with threads must not fork: `unshare` and the dropping of a
user id happen here, and `exec` makes the browser of it. Its one argument is a JSON object:

    parent      process id of the process that started it
    namespace   whether the browser gets a network namespace with nothing but loopback
    uid         user id to change to; 0: stay
    sockets     number of listening sockets on 127.0.0.1 to make
    handover    descriptor of a Unix socket that gets the sockets, or `{"step", "error"}`
    commands, replies   descriptors of the pipes that become 3 and 4
    argv, environment   of the browser; `{port}` in an argument is the port of the first socket

At `exec` the handover socket closes: that is how the parent learns of it.
"""

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from fcntl import F_DUPFD_CLOEXEC, fcntl, ioctl
from pathlib import Path
from typing import Any, NoReturn

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_BACKLOG = 128
_ABOVE = 10
_FILES = 8192
"""Open files; a page with 300 connections needs about 1,000 in the browser's processes."""


class _StepError(Exception):
    """A step failed; arguments: the step, the error of the system."""


def main(argument: str) -> NoReturn:
    """Become the browser, or report to the parent what failed."""
    task: dict[str, Any] = json.loads(argument)
    handover = socket.socket(fileno=_move_up(task["handover"]))
    os.close(task["handover"])
    try:
        os.setsid()
        if task["namespace"]:
            _enter_namespace(int(task["uid"]))
        listeners = _make_listeners(int(task["sockets"]))
        socket.send_fds(handover, [b"sockets"], [listener.fileno() for listener in listeners])
        _drop_user(int(task["uid"]))
        _limit()
        _end_with_parent(int(task["parent"]))
        port = str(listeners[0].getsockname()[1])
        _become(task, [part.replace("{port}", port) for part in task["argv"]])
    except _StepError as error:
        step, problem = error.args
        handover.sendall(json.dumps({"step": step, "error": str(problem)}).encode())
    sys.exit(1)


def _enter_namespace(uid: int) -> None:
    """Enter a network namespace with nothing but loopback.

    Root enters it as root, and drops its user id later. An ordinary user needs a user namespace
    besides; so does a root that may not make network namespaces, after it dropped its user id. A
    root of a user namespace in which `uid` does not exist appears as `uid` in the new one.

    Args:
        uid: User id that root changes to; 0 for an ordinary user.
    """
    is_root = os.geteuid() == 0 and _is_mapped(uid)
    if not is_root or not _has_unshared(_CLONE_NEWNET):
        if is_root:
            _drop_user(uid)
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root
        _enter_user_namespace(uid)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
    except OSError as error:
        raise _StepError("namespace", error) from error


def _enter_user_namespace(uid: int) -> None:
    """Enter a user and a network namespace, with this user as the only one."""
    user, group = os.geteuid(), os.getegid()
    if not _has_unshared(_CLONE_NEWNET | _CLONE_NEWUSER):
        number = ctypes.get_errno()
        raise _StepError("namespace", OSError(number, os.strerror(number)))
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid or user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{uid or group} {group} 1")
    except OSError as error:
        raise _StepError("namespace", error) from error


def _is_mapped(uid: int) -> bool:
    """Whether a user id exists in the user namespace of this process."""
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, length = map(int, line.split())
        if first <= uid < first + length:
            return True
    return False


def _has_unshared(flags: int) -> bool:
    return bool(ctypes.CDLL(None, use_errno=True).unshare(flags) == 0)


def _make_listeners(count: int) -> list[socket.socket]:
    try:
        listeners = [socket.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
            listener.listen(_BACKLOG)
    except OSError as error:
        raise _StepError("sockets", error) from error
    return listeners


def _drop_user(uid: int) -> None:
    if os.geteuid() != 0 or not uid:
        return
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        raise _StepError("user", error) from error


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = _FILES if most == resource.RLIM_INFINITY else min(_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    os.umask(0o077)


def _end_with_parent(parent: int) -> None:
    """Have the browser killed when its parent dies; a change of the user id clears that."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def _become(task: dict[str, Any], argv: Sequence[str]) -> None:
    """Replace this process by the browser, with its pipes at 3 and 4."""
    pipes = [_move_up(int(task[name])) for name in ("commands", "replies")]
    for name in ("commands", "replies"):
        os.close(int(task[name]))
    for target, pipe in zip((3, 4), pipes, strict=True):
        os.dup2(pipe, target, inheritable=True)
    try:
        os.execve(argv[0], list(argv), task["environment"])  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise _StepError("start", error) from error


def _move_up(descriptor: int) -> int:
    """Duplicate a descriptor upwards, so that no descriptor is where a pipe goes."""
    return fcntl(descriptor, F_DUPFD_CLOEXEC, _ABOVE)


if __name__ == "__main__":
    main(sys.argv[1])
