"""The hub: notifies the viewers of a topic of changes, and caches its rendered state for them.

Nothing is queued for a viewer: the notification says only *that* a topic changed, and the viewer
reads the present state when it is ready. So a slow viewer skips states and costs no memory.
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
    """A subscriber to topics, such as a live page."""

    def __init__(self) -> None:
        self._changed: set[str] = set()
        self._woken = asyncio.Event()
        self._is_over = False

    def note(self, topic: str) -> None:
        """Remember that a topic changed."""
        self._changed.add(topic)
        self._woken.set()

    def end(self) -> None:
        """Disconnect the viewer, because the console ends."""
        self._is_over = True
        self._woken.set()

    async def changes(self, patience: float) -> frozenset[str] | None:
        """Wait for a change, and return the topics that changed since the last call.

        Args:
            patience: Timeout in seconds, after which the set is empty.

        Returns:
            The topics; None if the viewer must disconnect.
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
    """The viewers of each topic.

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
        """Register a viewer of topics while the block runs."""
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
        """Notify the viewers of a topic that it changed."""
        self._made.pop(topic, None)
        for viewer in self._viewers.get(topic, ()):
            viewer.note(topic)

    def task_changed(self, task: str) -> None:
        """Notify the viewers of a background task, by its id, of progress or its end."""
        self.changed(task_topic(task))

    def render(self, topic: str, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the rendered state of a topic, which is rendered once for all its viewers.

        Args:
            topic: The topic.
            key: The variant: page, language and role.
            make: Renders the state.
        """
        stored = self._made.setdefault(topic, {}) if topic in self._viewers else {}
        if key not in stored:
            stored[key] = make()
        return stored[key]

    def close(self) -> None:
        """Disconnect all viewers."""
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
        text: Text of the notice, in the language of the session.
    """

    kind: NoticeKind
    text: str


class NoticeBoard:
    """The notices that sessions have not shown yet; in memory only, as they are short-lived."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Notice]] = defaultdict(list)

    def add(self, session: str, notice: Notice) -> None:
        """Keep a notice for the next page of a session, by the hash of the session."""
        waiting = self._waiting[session]
        waiting.append(notice)
        del waiting[:-MOST_NOTICES]

    def take(self, session: str) -> list[Notice]:
        """Remove and return the notices of a session."""
        return self._waiting.pop(session, [])
