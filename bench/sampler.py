"""Where does the CPU time go? A sampler of Python stacks, driven by the process's CPU time.

Each sample weighs the CPU time of the main thread since the one before, so that a late signal
loses nothing; what other threads and the garbage collector used meanwhile is counted apart. Costs
about 1 % at the default interval, and nothing while it is not started.
"""

import gc
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from types import CodeType, FrameType

from nacre import __file__ as _package

PACKAGE = _package.removesuffix("__init__.py")

STAGES = {
    "fetch": "fetch: connections, requests, replies",
    "wire": "fetch: connections, requests, replies",
    "extract": "extract: links",
    "uri": "identity: URLs, keys, SURTs",
    "scope": "scope",
    "frontier": "frontier",
    "store": "store and commit",
    "archive": "archive: records, digests, gzip, index",
    "history": "history and deduplication",
    "report": "logs and statistics",
    "core": "records",
    "job": "engine and disposition",
}
LOOP = "event loop: sockets, timers, tasks"
THREADS = "other threads: writes, syncs"
COLLECTOR = "garbage collector"

Stack = tuple[tuple[CodeType, int], ...]


class Sampler:
    """Samples between `start` and `stop`; the main thread only.

    Args:
        interval: CPU time of the process between two samples, seconds.

    Attributes:
        stacks: CPU seconds of the main thread by stack, innermost call first.
        threads: CPU seconds of other threads.
        collector: CPU seconds of garbage collections.
    """

    def __init__(self, interval: float = 0.001) -> None:
        self._interval = interval
        self.stacks: defaultdict[Stack, float] = defaultdict(float)
        self.threads = 0.0
        self.collector = 0.0
        self._main = self._process = self._collected = self._began = 0.0

    def start(self) -> None:
        """Begin to sample."""
        gc.callbacks.append(self._collect)
        signal.signal(signal.SIGPROF, self._sample)
        self._main, self._process = time.thread_time(), time.process_time()
        signal.setitimer(signal.ITIMER_PROF, self._interval, self._interval)

    def stop(self) -> None:
        """End it."""
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        gc.callbacks.remove(self._collect)

    def _collect(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.thread_time()
        else:
            self._collected += time.thread_time() - self._began

    def _sample(self, _: int, frame: FrameType | None) -> None:
        main, process = time.thread_time(), time.process_time()
        used, all_used = main - self._main, process - self._process
        self._main, self._process = main, process
        self.threads += max(all_used - used, 0.0)
        collected, self._collected = self._collected, 0.0
        self.collector += collected
        stack = []
        while frame is not None:
            stack.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        self.stacks[tuple(stack)] += max(used - collected, 0.0)

    # ---- results

    def stages(self) -> dict[str, float]:
        """Return CPU seconds by stage: the stage of the innermost call in Nacre."""
        seconds: defaultdict[str, float] = defaultdict(float)
        for stack, used in self.stacks.items():
            module = next(_own(stack), None)
            seconds[_stage(module[0].co_filename) if module else LOOP] += used
        seconds[THREADS] = self.threads
        seconds[COLLECTOR] = self.collector
        return dict(sorted(seconds.items(), key=lambda item: -item[1]))

    def functions(self) -> dict[str, tuple[float, float]]:
        """Return CPU seconds of each function of Nacre: its own with library calls, and all."""
        own: dict[str, float] = {}
        whole: dict[str, float] = {}
        for stack, used in self.stacks.items():
            names = [_name(code) for code, _ in _own(stack)] or [LOOP]
            own[names[0]] = own.get(names[0], 0.0) + used
            for name in set(names):
                whole[name] = whole.get(name, 0.0) + used
        return {name: (own.get(name, 0.0), used) for name, used in whole.items()}

    def lines(self) -> dict[str, float]:
        """Return CPU seconds by line: the innermost line of Nacre."""
        seconds: dict[str, float] = {}
        for stack, used in self.stacks.items():
            for code, line in _own(stack):
                name = f"{_name(code)}:{line}"
                seconds[name] = seconds.get(name, 0.0) + used
                break
        return seconds


def _own(stack: Stack) -> Iterator[tuple[CodeType, int]]:
    return (call for call in stack if call[0].co_filename.startswith(PACKAGE))


def _stage(filename: str) -> str:
    return STAGES.get(filename.removeprefix(PACKAGE).split("/")[0], "other")


def _name(code: CodeType) -> str:
    return f"{code.co_filename.removeprefix(PACKAGE)} {code.co_qualname}"
