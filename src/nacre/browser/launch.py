"""Starts a browser in a network of its own; run by its path, with nothing of Nacre imported.

A process of its own, since a process with threads must not fork: `unshare` and the dropping of a
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
        own_user = _enter_namespace(int(task["uid"])) if task["namespace"] else False
        listeners = _make_listeners(int(task["sockets"]))
        socket.send_fds(handover, [b"sockets"], [listener.fileno() for listener in listeners])
        if not own_user:
            _drop_user(int(task["uid"]))
        _limit()
        _end_with_parent(int(task["parent"]))
        port = str(listeners[0].getsockname()[1])
        _become(task, [part.replace("{port}", port) for part in task["argv"]])
    except _StepError as error:
        step, problem = error.args
        handover.sendall(json.dumps({"step": step, "error": str(problem)}).encode())
    sys.exit(1)


def _enter_namespace(uid: int) -> bool:
    """Enter a network namespace with nothing but loopback.

    Args:
        uid: User id that a privileged process changes to later; 0 for an ordinary user.

    Returns:
        Whether a user namespace was entered besides, so that no user id is to be dropped. A
        process that is root in a namespace in which `uid` does not exist appears as `uid` there.
    """
    own_user = os.geteuid() != 0 or not _is_mapped(uid)
    inside = (uid or os.geteuid(), uid or os.getegid())
    outside = (os.geteuid(), os.getegid())
    _unshare(_CLONE_NEWNET | (_CLONE_NEWUSER if own_user else 0))
    try:
        if own_user:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{inside[0]} {outside[0]} 1")
            Path("/proc/self/gid_map").write_text(f"{inside[1]} {outside[1]} 1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
    except OSError as error:
        raise _StepError("namespace", error) from error
    return own_user


def _is_mapped(uid: int) -> bool:
    """Whether a user id exists in the user namespace of this process."""
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, length = map(int, line.split())
        if first <= uid < first + length:
            return True
    return False


def _unshare(flags: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(flags):
        number = ctypes.get_errno()
        raise _StepError("namespace", OSError(number, os.strerror(number)))


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
