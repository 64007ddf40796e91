"""Posts the events of a job to a webhook, as signed JSON messages.

Messages wait in a bounded queue and are sent in order, beside the crawl. One that cannot be
delivered is retried with growing waits, then dropped and noted in job.log. The notifier raises no
alerts and never delays the crawl; when the job ends, messages that are left have some seconds.
"""

import asyncio
import hashlib
import hmac
import re
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from nacre import __version__
from nacre.core.clock import Clock
from nacre.core.events import Alert, AlertLogged, Event, Events, StateChanged
from nacre.core.message_data import to_json, to_plain
from nacre.core.states import ExitCode, ExitStatus, JobState, RunCounts, exit_code
from nacre.errors import NacreError
from nacre.inspect.changes.reading import posted_changes
from nacre.inspect.changes.wording import run_counts
from nacre.job.session import Session
from nacre.machine.clock import machine_clock
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.runs.runs import keep_notes
from nacre.settings.settings import JobSettings, WebhookSettings
from nacre.uri.parse import host, origin

TIMEOUT = 10.0
"""Limit of the whole exchange, seconds."""

_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})")
_LONGEST = 65_536
MOST = 100
"""Messages that wait; more are counted and dropped."""
TRIES = 8
"""Attempts to deliver a message."""
LONGEST_WAIT = 60.0
"""Between two tries, seconds; the first wait is 1 s, each further one twice the last."""
AT_THE_END = 10.0
"""Seconds that are left for waiting messages when the job ends."""
_NO_MORE: Mapping[str, object] = {}
_SAME = 60.0
"""Seconds before an alert like the last one is sent again."""


class DeliveryError(Exception):
    """A message was not accepted; the text says why, without the path and query of the URL."""


def signature(secret: str, time: str, body: bytes) -> str:
    """HMAC-SHA256 over the time, a full stop and the body, as `sha256=<hex>`."""
    signed = time.encode() + b"." + body
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def headers(secret: str, time: str, event: str, number: str, body: bytes) -> dict[str, str]:
    """The fields of a request that are about its message.

    Args:
        secret: Key of the signature; "" for none.
        time: When it is sent, whole seconds since the epoch.
        event: What happened.
        number: The same for each try of one message.
        body: The message.
    """
    fields = {"X-Nacre-Event": event, "X-Nacre-Delivery": number, "X-Nacre-Timestamp": time}
    if secret:
        fields["X-Nacre-Signature"] = signature(secret, time, body)
    return fields


async def post(
    url: str, body: bytes, fields: Mapping[str, str], patience: float = TIMEOUT, address: str = ""
) -> int:
    """Send it; the status of the answer, 200 to 299.

    Args:
        url: Where to.
        body: The message.
        fields: Fields of the request; JSON is the media type unless they have another.
        patience: Seconds for the whole exchange.
        address: IP address of the host, where it was looked up already; "": it is looked up now.

    Raises:
        DeliveryError: The answer is none of 200 to 299, or there is none.
    """
    try:
        async with asyncio.timeout(patience):
            status = await _exchange(url, body, fields, address)
    except TimeoutError:
        raise DeliveryError(
            message(
                "job.gave-no-answer-within-s",
                "{origin} gave no answer within {patience:.0f} s",
                origin=origin(url),
                patience=patience,
            )
        ) from None
    except (OSError, ValueError, asyncio.IncompleteReadError) as error:
        raise DeliveryError(
            message("job.webhook-error", "{origin}: {error}", origin=origin(url), error=error)
        ) from error
    if not 200 <= status < 300:
        raise DeliveryError(
            message(
                "job.webhook-status",
                "{origin} answered {status}",
                origin=origin(url),
                status=status,
            )
        )
    return status


async def _exchange(url: str, body: bytes, fields: Mapping[str, str], address: str) -> int:
    name = host(url)
    scheme, _, after_scheme = url.partition("://")
    place, slash, path = after_scheme.partition("/")
    port = place.rpartition("@")[2].removeprefix(name).removeprefix(":")
    secure = scheme == "https"
    context = await asyncio.to_thread(ssl.create_default_context) if secure else None
    reader, writer = await asyncio.open_connection(
        address or name.strip("[]"), int(port or (443 if secure else 80)), ssl=context,
        server_hostname=name.strip("[]") if secure else None, limit=_LONGEST,
    )  # fmt: skip
    try:
        writer.write(_head(place.rpartition("@")[2], slash + path, len(body), fields) + body)
        await writer.drain()
        status_line = _STATUS.match(await reader.readline())
    finally:
        writer.close()
    if status_line is None:
        raise ValueError(message("job.answer-not-http", "its answer is not HTTP"))
    return int(status_line[1])


def _head(place: str, target: str, length: int, fields: Mapping[str, str]) -> bytes:
    lines = {
        "Host": place,
        "User-Agent": f"Nacre/{__version__}",
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **fields,
    }
    text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {target.partition('#')[0] or '/'} HTTP/1.1\r\n{text}\r\n".encode()


class WatchedJob(Protocol):
    """The part of a job that the notifier needs."""

    layout: Layout
    settings: JobSettings
    events: Events
    session: Session | None

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


class WebhookMessage(NamedTuple):
    """A message that waits to be posted."""

    event: str
    body: bytes
    number: str


class WebhookNotifier:
    """Posts the events of one job to its webhook, in order, beside the crawl.

    Args:
        job: The job; its settings may change while it runs.
    """

    def __init__(self, job: WatchedJob) -> None:
        self._job, self._clock = job, job.clock
        self._layout, self._events = job.layout, job.events
        self._waiting: deque[WebhookMessage] = deque()
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._dropped = 0
        self._number = 0
        self._last = ("", 0.0)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Post messages while the block runs, and the last ones for some seconds after it."""
        unsubscribe = self._events.subscribe(self._on_event)
        try:
            async with asyncio.TaskGroup() as group:
                sending = group.create_task(self._send_all(), name="webhook")
                try:
                    yield
                    await self._send_last()
                except NacreError as error:
                    self._failed(error)
                    await self._send_last()
                    raise
                finally:
                    sending.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # the job's own: sending raises nothing
        finally:
            unsubscribe()

    @property
    def _settings(self) -> JobSettings:
        """The settings of now; they can change while the job runs."""
        return self._job.settings

    @property
    def _webhook(self) -> WebhookSettings:
        """The current URL of the webhook."""
        alerts = self._settings.alerts
        return alerts.webhook

    # ---- events

    def _on_event(self, event: Event) -> None:
        if not self._webhook.url:
            return
        if isinstance(event, Alert | AlertLogged):
            self._alert(event.message)
        elif isinstance(event, StateChanged):
            names = _names(event)
            if names:
                self._put(names, f"{event.old} -> {event.new}", event.why)
            if event.new is JobState.FINISHED:
                self._put_changes()

    def _failed(self, error: NacreError) -> None:
        """The job ends by an error, without a change of its state."""
        if self._webhook.url:
            self._put(["finished"], "ended by an error", str(error))

    def _alert(self, text: str) -> None:
        now = self._clock.monotonic()
        last, since = self._last
        if text != last or now - since >= _SAME:
            self._last = text, now
            self._put(["alert"], text, "")

    def _put_changes(self) -> None:
        """Queue a message with the changes that the run found, unless there are none."""
        session, alerts = self._job.session, self._settings.alerts
        if session is None or "changes" not in alerts.on:
            return
        changes = posted_changes(session.storing.store, session.run_row.name)
        if changes.entries:
            self._put(["changes"], run_counts(changes), "", {"changes": to_plain(changes)})

    @property
    def _name(self) -> str:
        """The name of the job."""
        return self._settings.name or self._layout.root.name

    def _put(
        self, names: Sequence[str], text: str, reason: str, more: Mapping[str, object] = _NO_MORE
    ) -> None:
        """Queue a message under the first of its names that `alerts.on` contains."""
        alerts = self._settings.alerts
        subscribed = [name for name in names if name in alerts.on]
        if not subscribed:
            return
        if len(self._waiting) >= MOST:
            self._dropped += 1
            return
        self._number += 1
        now = self._clock.now()
        run = self._run
        number = f"{run or '-'}/{now:.3f}/{self._number}"
        facts = {
            "id": number,
            "event": subscribed[0],
            "time": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
            "job": self._name,
            "run": run,
            "message": text,
            "why": reason,
            "dropped_before": self._dropped,
            **self._counts(),
            **more,
        }
        self._dropped = 0
        self._waiting.append(WebhookMessage(subscribed[0], to_json(facts), number))
        self._some.set()

    @property
    def _run(self) -> str:
        session = self._job.session
        return session.run_row.name if session is not None else ""

    def _counts(self) -> dict[str, int]:
        session = self._job.session
        if session is None:
            return {}
        totals, alerts = session.frontier.totals, session.logs.alerts
        return {
            "finished": totals.finished,
            "queued": totals.queued,
            "failed": totals.failed,
            "alerts": alerts.total,
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

    async def _send_last(self) -> None:
        """Wait some seconds until the last messages are delivered; log those that are not."""
        if not self._waiting:
            return
        self._none.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(AT_THE_END):
                await self._none.wait()
        for waiting in self._waiting:
            self._note(f"{waiting.event} was not delivered before the job ended")

    async def _send(self, waiting: WebhookMessage) -> None:
        """Try, wait, and try again."""
        for tries in range(1, TRIES + 1):
            webhook = self._webhook
            if not webhook.url:
                return  # it was taken away meanwhile
            time = str(int(machine_clock(self._clock).now()))
            event, body, number = waiting
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
                await self._clock.sleep(min(2.0 ** (tries - 1), LONGEST_WAIT))

    def _note(self, text: str) -> None:
        """In job.log; in that of the next start where this one is closed."""
        session = self._job.session
        line = f"webhook: {text}"
        if session is not None and session.state is not JobState.FINISHED:
            session.logs.job(line)
            return
        with suppress(OSError):
            keep_notes(self._layout, [line])


def _names(event: StateChanged) -> list[str]:
    """What a change of state may be called, the most exact first; none for one of no interest."""
    if event.new is JobState.FINISHED:
        return _ends(event.why)
    if event.new is JobState.PAUSED:
        reasons = event.why.split(", ")
        return [*(name for name in ("disk", "quota", "schedule") if name in reasons), "paused"]
    if event.new is JobState.RUNNING and event.old is JobState.PREPARING:
        return ["started"]
    if event.new is JobState.RUNNING and event.old is not JobState.EMPTY:
        return ["resumed"]
    return []


def _ends(reason: str) -> list[str]:
    if reason == ExitStatus.DISK_WAIT:
        return ["disk", "finished"]
    is_limit = (
        reason in set(ExitStatus) and exit_code(ExitStatus(reason), RunCounts()) is ExitCode.LIMIT
    )
    return ["limit", "finished"] if is_limit else ["finished"]
