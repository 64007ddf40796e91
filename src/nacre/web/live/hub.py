"""The hub: tells all who look at a topic that it changed, and keeps what is made of it for all.

Nothing is queued for a viewer: they are told *that* a topic changed, and take its present state
when they are ready. So a slow one skips states, and costs no memory.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple

JOBS = "jobs"
"""The topic of the list of jobs."""


def job_topic(job: str) -> str:
    """The topic of a job by its id."""
    return f"job:{job}"


def task_topic(task: str) -> str:
    """The topic of a task in the background by its id."""
    return f"task:{task}"


class Viewer:
    """Somebody who looks at topics."""

    def __init__(self) -> None:
        self._changed: set[str] = set()
        self._woken = asyncio.Event()
        self._is_over = False

    def note(self, topic: str) -> None:
        """Remember that a topic changed."""
        self._changed.add(topic)
        self._woken.set()

    def end(self) -> None:
        """Have the viewer go: the console ends."""
        self._is_over = True
        self._woken.set()

    async def changes(self, patience: float) -> frozenset[str] | None:
        """The topics that changed since the last call; waits for one.

        Args:
            patience: Seconds after which an empty set is the answer.

        Returns:
            The topics; None when the viewer shall go.
        """
        try:
            async with asyncio.timeout(patience):
                await self._woken.wait()
        except TimeoutError:
            return frozenset()
        if self._is_over:
            return None
        changed, self._changed = frozenset(self._changed), set()
        self._woken.clear()
        return changed


class ViewerHub:
    """It knows the viewers of each topic.

    Attributes:
        streams: Number of viewers.
    """

    def __init__(self) -> None:
        self.streams = 0
        self._viewers: defaultdict[str, set[Viewer]] = defaultdict(set)
        self._made: dict[str, dict[Hashable, bytes]] = {}
        self._is_closed = False

    @contextmanager
    def viewing(self, topics: Iterable[str]) -> Iterator[Viewer]:
        """While the block runs, somebody looks at topics."""
        viewer, named = Viewer(), frozenset(topics)
        if self._is_closed:
            viewer.end()
        for topic in named:
            self._viewers[topic].add(viewer)
        self.streams += 1
        try:
            yield viewer
        finally:
            self.streams -= 1
            for topic in named:
                self._viewers[topic].discard(viewer)
                if not self._viewers[topic]:
                    del self._viewers[topic]
                    self._made.pop(topic, None)

    def changed(self, topic: str) -> None:
        """A topic changed."""
        self._made.pop(topic, None)
        for viewer in self._viewers.get(topic, ()):
            viewer.note(topic)

    def task_changed(self, task: str) -> None:
        """A task in the background is further, or over, by its id."""
        self.changed(task_topic(task))

    def made(self, topic: str, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The present state of a topic as it is sent; made once for all who look at it.

        Args:
            topic: The topic.
            key: Which form of it: the page, the language, the role.
            make: Makes it.
        """
        stored = self._made.setdefault(topic, {}) if topic in self._viewers else {}
        if key not in stored:
            stored[key] = make()
        return stored[key]

    def close(self) -> None:
        """Send all viewers away."""
        self._is_closed = True
        for viewers in self._viewers.values():
            for viewer in viewers:
                viewer.end()


MOST_NOTICES: Final = 50
"""Notices that are kept for one session."""

NoticeKind = Literal["done", "error"]


class Notice(NamedTuple):
    """A notice.

    Attributes:
        kind: `done` or `error`, as classes of the style have it.
        text: It, in the language of the session.
    """

    kind: NoticeKind
    text: str


class NoticeBoard:
    """The notices that sessions have not seen yet; in memory, as they are of the moment."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Notice]] = defaultdict(list)

    def add(self, session: str, notice: Notice) -> None:
        """Keep a notice for the next page of a session, by the hash of that."""
        waiting = self._waiting[session]
        waiting.append(notice)
        del waiting[:-MOST_NOTICES]

    def take(self, session: str) -> list[Notice]:
        """The notices of a session, which are taken away."""
        return self._waiting.pop(session, [])
