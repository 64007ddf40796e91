"""What rounds of a small site take beyond the fetch itself: `python -m bench.cycle --small 50`.

A site of so many pages on loopback, behind nginx, and three rounds in one command without a delay,
several times. A round begins with its first step and ends with its last one. The fetch itself is
the time from the first request of the round to the last reply in the log of the server; all else is
beyond it: the tables, the commits, the start and the end of units. CPU is that of the command and
all processes below it, without the step `fetch`, and of that step apart. Prints a line for each
round, the medians of all runs, and JSON.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.process import family_cpu
from bench.units import write_site
from tools.nginx import Request, Server, free_port, serving

PAGES = 50
TARGETS = {"beyond_s": 3.0, "start_s": 0.6}
"""Time of a round beyond its fetch, and from the start of the command to its first line, s."""

_ROUNDS = 3


class TimedStep(NamedTuple):
    """A step as the command told of it.

    Attributes:
        round: Its round, from 1; 0: before the rounds.
        name: Its name.
        began: When it began, seconds since the epoch.
        ended: When it ended.
        cpu: CPU seconds of all processes meanwhile.
    """

    round: int
    name: str
    began: float
    ended: float
    cpu: float


class RoundTime(NamedTuple):
    """A round.

    Attributes:
        wall: From its begin to its end, s.
        beyond: That without the fetch itself.
        cpu: CPU seconds of its steps without `fetch`.
        fetch_cpu: CPU seconds of `fetch`, with the start of its units.
        pages: Requests.
    """

    wall: float
    beyond: float
    cpu: float
    fetch_cpu: float
    pages: float


def timed_steps(command: Sequence[str]) -> Iterator[TimedStep | float]:
    """Run a command with `--json`: first the seconds to its first line, then its steps.

    Raises:
        SystemExit: It failed.
    """
    start = time.time()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as child:
        began = cpu = 0.0
        lines = []
        for text in child.stderr or ():
            lines.append(text)
            if not text.startswith("{"):
                continue
            line = json.loads(text)
            if not began:
                yield time.time() - start
            moment = datetime.fromisoformat(line["time"]).timestamp()
            if line["type"] == "begin":
                began, cpu = moment, family_cpu(child.pid)
            elif line["type"] == "done":
                place = line["round"].removeprefix("round ").partition("/")[0]
                used = family_cpu(child.pid) - cpu
                yield TimedStep(int(place or 0), line["step"], began, moment, used)
        if child.wait():
            raise SystemExit(f"{' '.join(command)} ended with {child.returncode}: {lines[-5:]}")


def round_times(steps: Sequence[TimedStep], requests: Sequence[Request]) -> list[RoundTime]:
    """Return the times of rounds, by their steps and the log of the server."""
    times = []
    for number in sorted({step.round for step in steps} - {0}):
        own = [step for step in steps if step.round == number]
        began, ended = own[0].began, own[-1].ended
        in_round = [request for request in requests if began <= request.ended <= ended]
        fetch = (
            max(request.ended for request in in_round) - min(request.began for request in in_round)
            if in_round
            else 0.0
        )
        cpu = sum(step.cpu for step in own if step.name != "fetch")
        of_fetch = sum(step.cpu for step in own if step.name == "fetch")
        times.append(RoundTime(ended - began, ended - began - fetch, cpu, of_fetch, len(in_round)))
    return times


def small_rounds(pages: int, runs: int) -> None:
    """Measure, and print the results."""
    starts: list[float] = []
    runs_of_rounds: list[list[RoundTime]] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_site(folder / "site", pages)
        port = free_port(("127.0.0.1",), 8080)
        server = Server("127.0.0.1", port, folder / "site")
        with serving([server], folder / "nginx", log=True) as nginx:
            for number in range(runs):
                command = [
                    sys.executable, "-m", "nacre", "cycle", str(folder / f"c{number}"),
                    "-s", f"http://127.0.0.1:{port}/", "--rounds", str(_ROUNDS),
                    "--delay", "0", "--json",
                ]  # fmt: skip
                start, *steps = timed_steps(command)
                assert isinstance(start, float)
                starts.append(start)
                timed = [step for step in steps if isinstance(step, TimedStep)]
                runs_of_rounds.append(round_times(timed, nginx.requests()))
    rounds = [
        RoundTime(*(median(values) for values in zip(*same, strict=True)))
        for same in zip(*runs_of_rounds, strict=True)
    ]
    print(f"{pages} pages, medians of {runs} runs; load before: {load:.1f}")
    print(f"  start of the command {median(starts):.2f} s (target {TARGETS['start_s']})")
    for number, times in enumerate(rounds, 1):
        print(
            f"  round {number}: {times.pages:.0f} requests; {times.wall:.2f} s, beyond the fetch "
            f"{times.beyond:.2f} s (target {TARGETS['beyond_s']}) and {times.cpu:.2f} CPU s; "
            f"{times.fetch_cpu:.2f} CPU s of fetch"
        )
    print(
        json.dumps(
            {
                "start_s": starts,
                "rounds": [[r._asdict() for r in times] for times in runs_of_rounds],
            }
        )
    )
