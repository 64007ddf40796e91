"""WARCs that are missing or cut short, by the operator's leave: what was in them is fetched again.

Before the recovery accepts the loss, a mark in the same batch says what is lost; it stays until
everything that was in the lost part waits in the frontier again.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import msgspec

from nacre.core.crawluri import CrawlURI, Hop, is_icon_guess
from nacre.core.history import HistoryRecord, Original, without_capture
from nacre.frontier.policy import rank
from nacre.job.assemble import Parts
from nacre.job.holdings.indexing import drop_index, remake_index
from nacre.job.holdings.readback import CaptureReader
from nacre.job.visit.logs import RECOVERY
from nacre.job.visit.outcomes import Outcome
from nacre.store.examine import Found, look
from nacre.store.files import FileKind
from nacre.store.lostfound import cut
from nacre.store.recovery import Start, recover
from nacre.store.seam import Disk
from nacre.store.store import Store
from nacre.uri.parse import origin

_KEY = b"accepted-loss"
_STEP = 256


class Missing(msgspec.Struct, frozen=True, array_like=True):
    """A WARC of which only the beginning is there.

    Attributes:
        number: Its number in the table of files.
        path: Its final name, relative to the job.
        start: First byte lost; 0: nothing is left.
    """

    number: int
    path: str
    start: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Missing]).decode


def accept_loss(store: Store, disk: Disk, root: str, start: Start) -> None:
    """Make the start that accepts the loss; `requeue_lost` does the rest.

    A WARC that was cut within a record is cut back to its last whole capture first.

    Args:
        store: Just opened.
        disk: The file operations.
        root: Directory of the job, absolute.
        start: With `accept_loss`.

    Raises:
        StorageError: A file or the store failed; nothing is accepted then.
    """
    missing = marked(store)
    for file in look(store, disk, root):
        if file.short and file.row.kind == FileKind.WARC:
            missing.append(Missing(file.number, file.row.final, _cut_back(disk, root, file)))
    if missing:
        store.put("meta", _KEY, _encode(missing))
    recover(store, disk, root, start)


def _cut_back(disk: Disk, root: str, file: Found) -> int:
    """Cut off what is left of a capture that was cut; the bytes that are left."""
    if not file.size:
        return 0
    reader = CaptureReader(Path(file.path), 0, file.size)
    for _ in reader:
        pass
    if reader.end < file.size:
        cut(disk, root, file.path, reader.end, sync=True)
    return reader.end


def marked(store: Store) -> list[Missing]:
    """The losses that were accepted and not yet dealt with."""
    row = store.get("meta", _KEY)
    return [] if row is None else _decode(row)


async def requeue_lost(parts: Parts, disk: Disk) -> str:
    """Fetch again what was lost, and let nothing refer to it; a step cut off is done again.

    Returns:
        What was done, for the operator; "" when nothing was lost.
    """
    missing = marked(parts.store)
    if not missing:
        return ""
    count = await _Requeue(parts, missing).run()
    await _remake_indexes(parts, disk, missing)
    names = ", ".join(file.path for file in missing)
    text = f"lost: {count} captures of {names}; they are fetched again, see {RECOVERY}"
    if not count:
        text = f"lost: captures of earlier runs in {names}; nothing refers to them any more"
    parts.logs.alert(text)
    parts.store.delete("meta", _KEY)
    await parts.commit.flush()
    return text


async def _remake_indexes(parts: Parts, disk: Disk, missing: Iterable[Missing]) -> None:
    for file in missing:
        if file.start:
            await remake_index(parts.store, parts.commit, disk, file.path)
        else:
            await drop_index(
                parts.store, parts.commit, disk, parts.commit.files.absolute(""), file.path
            )


class _Requeue:
    """Finds what was in the lost parts, or refers to them, and puts it back into the frontier."""

    def __init__(self, parts: Parts, missing: list[Missing]) -> None:
        self._parts = parts
        self._starts = {file.number: file.start for file in missing}
        self._names = {PurePosixPath(file.path).name: file.start for file in missing}
        self._records: set[str] = set()
        self._digests: list[bytes] = []

    async def run(self) -> int:
        """How many captures were lost.

        Originals are dropped last, for what refers to them is found through them.
        """
        self._find_originals()
        urls = self._find_results()
        for count, (key, outcome) in enumerate(urls, 1):
            self._requeue(key, outcome)
            if count % _STEP == 0:
                await self._parts.commit.flush()
        self._forget_history()
        await self._parts.commit.flush()
        for digest in self._digests:
            self._parts.store.delete("digests", digest)
        return len(urls)

    def _find_originals(self) -> None:
        decode = msgspec.msgpack.Decoder(Original).decode
        differences: list[tuple[bytes, Original]] = []
        for key, value in self._parts.store.scan("digests", b""):
            original = decode(value)
            start = self._starts.get(original.file)
            if start is not None and original.offset >= start:
                self._drop(key, original)
            elif original.base:
                differences.append((key, original))
        for key, original in differences:
            if original.base in self._records:  # its base went, and it with it
                self._drop(key, original)

    def _drop(self, key: bytes, original: Original) -> None:
        self._digests.append(key)
        self._records.add(original.record_id)

    def _find_results(self) -> list[tuple[bytes, Outcome]]:
        decode = msgspec.msgpack.Decoder(Outcome).decode
        rows = ((key, decode(row)) for key, row in self._parts.store.scan("urls", b""))
        return [(key, outcome) for key, outcome in rows if self._is_lost(outcome)]

    def _is_lost(self, outcome: Outcome) -> bool:
        """Whether its record is gone, or the one that its revisit refers to."""
        start = self._names.get(outcome.file) if outcome.file else None
        if start is not None and outcome.offset >= start:
            return True
        if outcome.status <= 0:
            return False
        known = self._parts.archive.history.get(outcome.url) if self._records else None
        return known is not None and self._refers(known)

    def _refers(self, known: HistoryRecord) -> bool:
        """Whether its capture is gone, or what that is a difference from."""
        base = known.base
        return known.record_id in self._records or (
            base is not None and base.record_id in self._records
        )

    def _requeue(self, key: bytes, outcome: Outcome) -> None:
        parts = self._parts
        parts.store.delete("urls", key)
        guess = is_icon_guess(outcome.url, outcome.path, outcome.via)
        parts.frontier.totals.take_back(outcome.status, guess=guess)
        known = parts.archive.history.get(outcome.url)
        if known is not None:
            parts.archive.history.put(without_capture(known))
        parts.logs.recovery(f"lost {outcome.url} in {outcome.file} at {outcome.offset}")
        if outcome.path.endswith(Hop.PREREQUISITE):
            self._forget_answer(outcome.url)
        else:
            parts.frontier.schedule([self._uri(key, outcome)], parts.clock.now())
        parts.commit.visit_done()

    def _forget_answer(self, url: str) -> None:
        """A prerequisite is fetched again when something needs it."""
        if url.startswith("dns:"):
            self._parts.hosts.drop(url[4:])
        else:
            self._parts.robots.drop(origin(url))

    def _uri(self, key: bytes, outcome: Outcome) -> CrawlURI:
        parts, is_seed = self._parts, self._parts.seeds.knows(outcome.url)
        overlay = parts.sheets.of_url(outcome.url)
        order = rank(
            parts.effective[overlay].frontier,
            outcome.path,
            is_seed=is_seed,
            url=outcome.url,
            via=outcome.via,
        )
        return CrawlURI(
            url=outcome.url,
            key=key,
            queue=parts.identity.queue(outcome.url, overlay),
            via=outcome.via,
            path=outcome.path,
            context=outcome.context,
            is_seed=is_seed,
            force_fetch=True,
            directive=order.directive,
            precedence=order.precedence,
            cost=order.cost,
        )

    def _forget_history(self) -> None:
        """What earlier runs know of the lost records; no server is asked for their change."""
        history = self._parts.archive.history
        for known in list(self._history() if self._records else ()):
            history.put(without_capture(known))

    def _history(self) -> Iterator[HistoryRecord]:
        decode = msgspec.msgpack.Decoder(HistoryRecord).decode
        for _, row in self._parts.store.scan("history", b""):
            known = decode(row)
            if self._refers(known):
                yield known
