"""The control socket of a running job: JSON lines between processes of the same user.

The socket is in a separate private directory, because its path must be short; the file
`state/control` contains the path. One request a line, `{"command": "pause", ...}`, one answer:
`{"ok": true, ...}` or `{"error": "..."}`, with the codes of texts for people in `messages`. No
request can run code.
"""

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from nacre.core.message_data import restore, with_codes
from nacre.errors import JobError, NacreError
from nacre.machine.local_files import HeldFolder, replace_file
from nacre.messages import Message, message

Answer = dict[str, Any]
Handler = Callable[[Mapping[str, Any]], Coroutine[Any, Any, Answer]]
Fault = Callable[[str, Exception], str]

PEER = "_uid"
"""Key of each request with the user id of the calling process."""

BY = "by"
"""Key of a request under which a process names who asked it: `alice via console`."""

_LINE_LIMIT = 64 << 20
_CREDENTIALS = struct.Struct("3i")
_PATIENCE = 600.0
_ENDED = message(
    "job.ended-without-answer",
    "the job ended without an answer. `nacre status JOB` prints how it ended",
)


class ControlServer:
    """Serves one running job.

    Args:
        named: File with the path of the socket (`state/control`).
        commands: Handler of each command; a NacreError that it raises is the answer.
        fault: Called with a command and any other exception of its handler, mostly a bug; returns
            the text of the answer. The job continues.
    """

    def __init__(self, named: Path, commands: Mapping[str, Handler], fault: Fault) -> None:
        self._named = named
        self._commands = commands
        self._fault = fault
        self._folder: HeldFolder | None = None
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen."""
        self._folder = HeldFolder()
        path = str(self._folder.path / "control")
        self._server = await asyncio.start_unix_server(self._serve, path, limit=_LINE_LIMIT)
        self._publish(path)

    def _publish(self, path: str) -> None:
        """Close the socket to others, and name it in one step."""
        Path(path).chmod(0o600)
        text = json.dumps({"socket": path, "pid": os.getpid()}) + "\n"
        replace_file(self._named, text.encode(), 0o600)

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
        self._named.unlink(missing_ok=True)
        if self._folder is not None:
            self._folder.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = _peer(writer)
        with contextlib.suppress(ConnectionError):
            try:
                while line := await reader.readline():
                    writer.write(await self._answer(line, peer))
                    await writer.drain()
            except ValueError:  # what `readline` makes of a line over its limit
                writer.write(_line({"error": f"a request is longer than {_LINE_LIMIT:,} bytes"}))
        writer.close()

    async def _answer(self, line: bytes, peer: int) -> bytes:
        try:
            request = {**json.loads(line), PEER: peer}
            handler = self._commands.get(request["command"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return _line({"error": "not a request: an object with `command`, in one line of JSON"})
        if handler is None:
            return _line({"error": f"no such command: {request['command']}"})
        try:
            return _line({"ok": True, **await handler(request)})
        except NacreError as error:
            return _line({"error": error.message})
        except Exception as error:  # noqa: BLE001 - a bug in a command is not the end of a crawl
            return _line({"error": self._fault(request["command"], error)})


def _line(answer: Answer) -> bytes:
    return json.dumps(with_codes(answer)).encode() + b"\n"


def _peer(writer: asyncio.StreamWriter) -> int:
    """User id of the process at the other end, as the kernel knows it."""
    end = writer.get_extra_info("socket")
    packed = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(packed)[1])


class NotRunningError(JobError):
    """The job does not run, or ended without an answer."""


def is_running(named: Path) -> bool:
    """Whether a job answers at the socket whose path a file holds."""
    try:
        with _connect(named):
            return True
    except JobError:
        return False


def send_command(
    named: Path, command: str, patience: float = _PATIENCE, /, **arguments: object
) -> Answer:
    """Send a command to a running job and return its answer.

    Args:
        named: File with the path of the socket (`state/control`).
        command: Name of the command.
        patience: Seconds after which a job that has not answered is given up.
        arguments: Arguments of the command.

    Raises:
        NotRunningError: It does not run, or ended meanwhile.
        JobError: It does not answer in time, or refuses with a reason.
    """
    request = _line({"command": command, **arguments})
    with _connect(named) as connection:
        connection.settimeout(patience)
        line = _exchange(connection, request, patience)
    return _read_answer(line)


def _read_answer(line: bytes) -> Answer:
    """The answer of a line.

    Raises:
        NotRunningError: It is cut off.
        JobError: It is none, or a refusal.
    """
    if not line.endswith(b"\n"):
        raise NotRunningError(_ENDED)
    try:
        answer: Answer = restore({**json.loads(line)})
    except (ValueError, TypeError, RecursionError):
        raise JobError(
            message(
                "job.job-answer-cannot-be-read",
                "the job's answer cannot be read; does another version of Nacre run it?",
            )
        ) from None
    if "error" in answer:
        error = answer["error"]
        raise JobError(error if isinstance(error, Message) else str(error))
    return answer


def _exchange(connection: socket.socket, request: bytes, patience: float) -> bytes:
    """Return the line that is answered; b"" if the job ends meanwhile."""
    try:
        # A server that rejects a request may answer before it has read all of it.
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
        with connection.makefile("rb") as answers:
            return answers.readline()
    except TimeoutError:
        raise JobError(
            message(
                "job.no-answer",
                "the job has not answered for {patience:.0f} s. See the output in its terminal",
                patience=patience,
            )
        ) from None
    except OSError:
        return b""


def _path_in(named: Path) -> str:
    """The path of the socket that a file names."""
    return str(json.loads(named.read_text("utf-8"))["socket"])


def _connect(named: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_PATIENCE)
        connection.connect(_path_in(named))
    except (OSError, ValueError, KeyError, TypeError):
        connection.close()
        raise NotRunningError(message("job.job-is-not-running", "the job is not running")) from None
    return connection


async def ask_command(named: Path, command: str, patience: float, **arguments: object) -> Answer:
    """Send a command to a running job without holding the event loop up.

    Args:
        named: File with the path of the socket (`state/control`).
        command: Name of the command.
        patience: Seconds after which a job that has not answered is given up.
        arguments: Of the command.

    Raises:
        NotRunningError: It does not run, or ended meanwhile.
        JobError: It does not answer in time, or refuses with a reason.
    """
    request = _line({"command": command, **arguments})
    try:
        async with asyncio.timeout(patience):
            line = await _ask(named, request)
    except TimeoutError:
        raise JobError(
            message(
                "job.job-has-not-answered",
                "the job has not answered for {patience:g} s",
                patience=patience,
            )
        ) from None
    return _read_answer(line)


async def _ask(named: Path, request: bytes) -> bytes:
    try:
        reader, writer = await asyncio.open_unix_connection(_path_in(named), limit=_LINE_LIMIT)
    except (OSError, ValueError, KeyError, TypeError):
        raise NotRunningError(message("job.job-is-not-running", "the job is not running")) from None
    try:
        with contextlib.suppress(ConnectionError):
            writer.write(request)
            await writer.drain()
            return await reader.readline()
        return b""
    finally:
        writer.close()
