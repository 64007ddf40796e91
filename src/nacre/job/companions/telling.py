"""Tells a webhook what happens to a job: from a bounded queue, in order, off the crawl's way.

What cannot be delivered is tried again with growing waits, then given up and noted in job.log. It
never raises an alert of its own, and never holds the crawl up; at the end of the job what is left
has some seconds.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import msgspec

from nacre.core.clock import Clock
from nacre.errors import NacreError
from nacre.job.companions.webhook import DeliveryError, headers, post
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import Alert, AlertLogged, Event, Events, StateChanged
from nacre.job.layout import Layout
from nacre.job.runs.notes import keep_notes
from nacre.job.session import Session
from nacre.job.states import ExitCode, ExitStatus, JobState, RunCounts, exit_code

MOST = 100
"""Messages that wait; more are counted and dropped."""

TRIES = 8
"""Tries of a message before it is given up."""

LONGEST_WAIT = 60.0
"""Between two tries, seconds; the first wait is 1 s, each further one twice the last."""

AT_THE_END = 10.0
"""Seconds that are left for waiting messages when the job ends."""

_SAME = 60.0
"""Seconds before an alert like the last one is told again."""


class Told(Protocol):
    """What is needed of a job."""

    layout: Layout
    settings: JobSettings
    events: Events
    session: Session | None

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


class Message(NamedTuple):
    """A message that waits."""

    event: str
    body: bytes
    number: str


class Teller:
    """Listens to one job.

    Args:
        job: It.
    """

    def __init__(self, job: Told) -> None:
        self._job = job
        self._waiting: deque[Message] = deque()
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._dropped = 0
        self._number = 0
        self._last = ("", 0.0)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Tell while the block runs, and some seconds after it what is left."""
        unsubscribe = self._job.events.subscribe(self._heard)
        try:
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(self._send_all(), name="webhook")
                try:
                    yield
                    await self._rest()
                except NacreError as error:
                    self._failed(error)
                    await self._rest()
                    raise
                finally:
                    sending.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the job's own: sending raises nothing
        finally:
            unsubscribe()

    # ---- what happens

    def _heard(self, event: Event) -> None:
        if not self._job.settings.alerts.webhook.url:
            return
        if isinstance(event, Alert | AlertLogged):
            self._alert(event.message)
        elif isinstance(event, StateChanged):
            names = _names(event)
            if names:
                self._put(names, f"{event.old} -> {event.new}", event.why)

    def _failed(self, error: NacreError) -> None:
        """The job ends by an error, without a change of its state."""
        if self._job.settings.alerts.webhook.url:
            self._put(["finished"], "ended by an error", str(error))

    def _alert(self, text: str) -> None:
        now = self._job.clock.monotonic()
        last, since = self._last
        if text != last or now - since >= _SAME:
            self._last = text, now
            self._put(["alert"], text, "")

    def _put(self, names: Sequence[str], message: str, why: str) -> None:
        """Queue a message under the first of its names that is wanted."""
        wanted = [name for name in names if name in self._job.settings.alerts.on]
        if not wanted:
            return
        if len(self._waiting) >= MOST:
            self._dropped += 1
            return
        self._number += 1
        now = self._job.clock.now()
        run = self._run
        number = f"{run or '-'}/{now:.3f}/{self._number}"
        facts = {
            "id": number,
            "event": wanted[0],
            "time": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
            "job": self._job.settings.name or self._job.layout.root.name,
            "run": run,
            "message": message,
            "why": why,
            "dropped_before": self._dropped,
            **self._counts(),
        }
        self._dropped = 0
        self._waiting.append(Message(wanted[0], msgspec.json.encode(facts), number))
        self._some.set()

    @property
    def _run(self) -> str:
        session = self._job.session
        return session.run_row.name if session is not None else ""

    def _counts(self) -> dict[str, int]:
        session = self._job.session
        if session is None:
            return {}
        totals = session.parts.frontier.totals
        return {
            "finished": totals.finished,
            "queued": totals.queued,
            "failed": totals.failed,
            "alerts": session.parts.logs.alerts,
        }

    # ---- sending

    async def _send_all(self) -> None:
        while True:
            if not self._waiting:
                self._none.set()
                self._some.clear()
                await self._some.wait()
            self._none.clear()
            await self._send(self._waiting[0])
            self._waiting.popleft()

    async def _rest(self) -> None:
        """What is left has some seconds; what is not delivered then is noted."""
        if not self._waiting:
            return
        self._none.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(AT_THE_END):
                await self._none.wait()
        for message in self._waiting:
            self._note(f"{message.event} was not delivered before the job ended")

    async def _send(self, message: Message) -> None:
        """Try, wait, and try again."""
        for tries in range(1, TRIES + 1):
            webhook = self._job.settings.alerts.webhook
            if not webhook.url:
                return  # it was taken away meanwhile
            time = str(int(self._job.clock.now()))
            event, body, number = message
            try:
                await post(
                    webhook.url, body, headers(webhook.secret.text, time, event, number, body)
                )
            except DeliveryError as error:
                if tries in {1, TRIES}:
                    then = "it is tried again" if tries == 1 else "it is given up"
                    self._note(f"{event} was not delivered, {then}: {error}")
            else:
                return
            if tries < TRIES:
                await self._job.clock.sleep(min(2.0 ** (tries - 1), LONGEST_WAIT))

    def _note(self, text: str) -> None:
        """In job.log; in that of the next start where this one is closed."""
        session = self._job.session
        line = f"webhook: {text}"
        if session is not None and session.state is not JobState.FINISHED:
            session.parts.logs.job(line)
            return
        with suppress(OSError):
            keep_notes(self._job.layout, [line])


def _names(event: StateChanged) -> list[str]:
    """What a change of state may be called, the most exact first; none for one of no interest."""
    if event.new is JobState.FINISHED:
        return _ends(event.why)
    if event.new is JobState.PAUSED:
        return ["disk", "paused"] if "disk" in event.why.split(", ") else ["paused"]
    if event.new is JobState.RUNNING and event.old is JobState.PREPARING:
        return ["started"]
    if event.new is JobState.RUNNING and event.old is not JobState.EMPTY:
        return ["resumed"]
    return []


def _ends(why: str) -> list[str]:
    if why == ExitStatus.DISK_WAIT:
        return ["disk", "finished"]
    is_limit = why in set(ExitStatus) and exit_code(ExitStatus(why), RunCounts()) is ExitCode.LIMIT
    return ["limit", "finished"] if is_limit else ["finished"]
