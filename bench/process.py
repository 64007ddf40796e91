"""One measured process: its CPU time and memory as the kernel counts them."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CLIENT_CORE = 0


@dataclass(frozen=True)
class Usage:
    """What a process used, with its threads and the children that it waited for.

    Attributes:
        cpu: User and system time, seconds.
        wall: Seconds.
        rss: Largest resident memory of one process, bytes.
        status: Exit status, or the signal that ended it, negative.
        written: Bytes that it wrote to files, those that it removed again too.
    """

    cpu: float
    wall: float
    rss: int
    status: int
    written: int = 0


def measured(
    command: Sequence[str],
    output: Path,
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Usage:
    """Run a command on the client's processor.

    Args:
        command: The command.
        output: File of its stdout; its stderr goes to the same name with `.err`.
        cwd: Where it runs.
        environment: Variables added to ours.
    """
    pinned = ["taskset", "--cpu-list", str(CLIENT_CORE), *command]
    began = time.perf_counter()
    with output.open("wb") as out, Path(f"{output}.err").open("wb") as errors:
        process = subprocess.Popen(
            pinned, stdout=out, stderr=errors, cwd=cwd, env={**os.environ, **(environment or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Usage(
        usage.ru_utime + usage.ru_stime,
        time.perf_counter() - began,
        usage.ru_maxrss * 1024,
        process.returncode,
        usage.ru_oublock * 512,
    )


def family(root: int) -> list[int]:
    """Return a process and all below it that live."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(path.name))
    pids, todo = [], [root]
    while todo:
        pid = todo.pop()
        pids.append(pid)
        todo += parents.get(pid, [])
    return pids


def family_cpu(root: int) -> float:
    """CPU seconds of a process and all below it, with those that ended and were waited for."""
    ticks = 0
    for pid in family(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def written(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
