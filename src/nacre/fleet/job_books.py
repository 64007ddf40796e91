"""Labels, quotas and wanted kinds of jobs, by the directories of jobs."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from nacre.config.component import parse_size
from nacre.errors import ConfigError, JobError, Problem
from nacre.fleet.database import ConsoleDatabase, ConsoleTable
from nacre.fleet.places import FoundJob
from nacre.fleet.refusals import RefusedRequestError
from nacre.job.quotas import QuotaLevel, decide_quota, disk_usage
from nacre.messages import message
from nacre.ops.fields import LARGEST, ShortText, ShortTexts

LONGEST_NAME: Final = 100
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 20
"""Maximum tags of a job."""


class JobLabels(msgspec.Struct, frozen=True):
    """The labels of a job.

    Attributes:
        name: Its name; "" for that of its directory.
        tags: Its tags, in order.
    """

    name: str = ""
    tags: tuple[str, ...] = ()


class JobLabelsWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of a job's labels and place; omitted fields keep their values.

    Attributes:
        name: Its name, 100 characters at most; "" for that of its directory.
        tags: All its tags, 20 at most; each has 40 characters at most, and no comma.
        place: Label of the place that its directory is moved to.
    """

    name: ShortText | msgspec.UnsetType = msgspec.UNSET
    tags: ShortTexts | msgspec.UnsetType = msgspec.UNSET
    place: ShortText | msgspec.UnsetType = msgspec.UNSET


NONE: Final = JobLabels()


class LabelRow(msgspec.Struct, frozen=True):
    """The row of the labels of a job; its tags are separated by commas."""

    path: str
    name: str
    tags: str


class LabelBook:
    """The labels of all jobs, by their directories.

    Args:
        database: The console's database.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._table = ConsoleTable(database, "labels", LabelRow)

    def of(self, job: FoundJob) -> JobLabels:
        """Return the labels of a job."""
        return self.of_path(str(job.layout.root))

    def of_path(self, path: str) -> JobLabels:
        """Return the labels of the job of a directory."""
        row = self._table.find(path)
        return NONE if row is None else _labels_of(row)

    def all(self) -> dict[str, JobLabels]:
        """Return the labels of all jobs with labels, by their directories.

        A list of many jobs calls it once, because each call queries the database.
        """
        return {row.path: _labels_of(row) for row in self._table.all()}

    def set(self, job: FoundJob, labels: JobLabels) -> None:
        """Set the labels of a job."""
        self._table.put(LabelRow(str(job.layout.root), labels.name, ",".join(labels.tags)))

    def move(self, before: str, after: str) -> None:
        """Move the labels of a job from its former directory to its new one."""
        self._table.move(before, after)

    def all_tags(self, jobs: list[FoundJob]) -> list[str]:
        """Return all tags of these jobs, in order."""
        labels = self.all()
        return sorted({tag for job in jobs for tag in labels.get(str(job.layout.root), NONE).tags})


def _labels_of(row: LabelRow) -> JobLabels:
    return JobLabels(row.name, tuple(filter(None, row.tags.split(","))))


def changed_labels(labels: JobLabels, request: JobLabelsWish) -> JobLabels:
    """Return the labels after a change.

    Raises:
        RefusedRequestError: The name or a tag is invalid (422).
    """
    name = labels.name if request.name is msgspec.UNSET else request.name.strip()
    _require(name, "name", LONGEST_NAME)
    if request.tags is msgspec.UNSET:
        return JobLabels(name, labels.tags)
    tags = sorted({tag.strip() for tag in request.tags} - {""})
    if len(tags) > MOST_TAGS:
        raise _refused(
            message(
                "console.tags-limit",
                "{number} tags are too many; a job has {most_tags} at most",
                number=len(tags),
                most_tags=MOST_TAGS,
            )
        )
    for tag in tags:
        _require(tag, "tag", LONGEST_TAG)
        if "," in tag:
            raise _refused(
                message(
                    "console.tag-with-comma",
                    "tag {tag!r} has a comma; write two tags, or leave it out",
                    tag=tag,
                )
            )
    return JobLabels(name, tuple(tags))


def _require(text: str, field: str, most: int) -> None:
    if len(text) > most:
        raise _refused(
            message(
                "console.text-length",
                "the {what} has {number} characters; {most} are the most: shorten {text!r}",
                what=field,
                number=len(text),
                most=most,
                text=text[:20],
            )
        )
    if not text.isprintable():
        raise _refused(
            message(
                "console.invisible-characters",
                "the {what} {text!r} has characters that cannot be seen; leave them out",
                what=field,
                text=text,
            )
        )


def _refused(text: str) -> RefusedRequestError:
    return RefusedRequestError(422, "labels", text)


MOST: Final = 100
"""Wanted kinds of a job."""


class WantedKindBook:
    """The kinds of URLs of jobs of which no banner warns, by the directories of jobs.

    Args:
        database: The console's database.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database

    def of(self, job: FoundJob) -> tuple[str, ...]:
        """Return the wanted kinds of a job, the oldest first: prefixes of URLs."""
        rows = self._database.rows(
            "SELECT prefix FROM wanted_kinds WHERE path = ? ORDER BY rowid", str(job.layout.root)
        )
        return tuple(str(prefix) for (prefix,) in rows)

    def set(self, job: FoundJob, prefixes: tuple[str, ...]) -> tuple[str, ...]:
        """Replace the wanted kinds of a job; return them without duplicates."""
        path, stored = str(job.layout.root), tuple(dict.fromkeys(prefixes))
        with self._database.together():
            self._database.rows("DELETE FROM wanted_kinds WHERE path = ?", path)
            for prefix in stored:
                self._database.rows("INSERT INTO wanted_kinds VALUES (?, ?)", path, prefix)
        return stored

    def move(self, before: str, after: str) -> None:
        """Keep the wanted kinds of a job that was moved.

        Args:
            before: Its former directory.
            after: Its new directory.
        """
        self._database.rows("DELETE FROM wanted_kinds WHERE path = ?", after)
        self._database.rows("UPDATE wanted_kinds SET path = ? WHERE path = ?", after, before)


def kinds_of(
    current: Sequence[str], added: Sequence[str], removed: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the wanted kinds after a change, of more than a hundred the newest ones (pure).

    Args:
        current: The present kinds, the oldest first.
        added: Kinds to add.
        removed: Kinds to remove.

    Raises:
        JobError: One of these is none.
    """
    wrong = [prefix for prefix in removed if prefix not in current]
    if wrong:
        raise JobError(
            message(
                "console.no-muted-kind",
                "{wrong} is no wanted kind; there are: {names}",
                wrong=wrong[0],
                names=", ".join(current) or "none",
            )
        )
    remaining = [prefix for prefix in current if prefix not in removed]
    return tuple(dict.fromkeys((*remaining, *added)))[-MOST:]


ALL_JOBS = ""
"""Stands for all jobs together, in place of a job's directory."""


def limit_of(text: str) -> int:
    """Parse a size such as `500 GB`, and return it in bytes (pure).

    Raises:
        ConfigError: The text is not a size, or the size is too large.
    """
    try:
        limit = int(str(parse_size(text)))
    except (ValueError, OverflowError):
        limit = -1
    if 0 <= limit <= LARGEST:
        return limit
    detail = message(
        "console.quota-format",
        "{text!r} is no quota; write it as 500 GB or 2 TiB, up to 9000 TB, or 0",
        text=text,
    )
    raise ConfigError([Problem("limit", detail, "", "500 GB")])


class KeptQuota(msgspec.Struct, frozen=True):
    """The quota of a job, or of all jobs.

    Attributes:
        path: Directory of the job; "" for all jobs together.
        limit: Bytes that may be used; 0 for no quota.
        used: Bytes used at the last measurement; 0 before the first one.
        measured: Time of the last measurement, seconds since the epoch; 0 for never.
        level: The level that was decided last.
        held: The console holds the job, so that it is the one that releases it.
        trouble: Reason why the job could not be held or released; "" for none.
    """

    path: str
    limit: int = 0
    used: int = 0
    measured: float = 0.0
    level: QuotaLevel = QuotaLevel.FREE
    held: bool = False
    trouble: str = ""


class QuotaRow(msgspec.Struct, frozen=True):
    """The row of a quota."""

    path: str
    quota: KeptQuota


class DiskQuotaBook:
    """The quotas, which persist over restarts.

    Args:
        database: The console's database.
        tell: Called if the level of a quota changes.
    """

    def __init__(self, database: ConsoleDatabase, tell: Callable[[], None] = lambda: None) -> None:
        self._table = ConsoleTable(database, "quotas", QuotaRow)
        self._tell = tell

    def all(self) -> dict[str, KeptQuota]:
        """Return all quotas, by the directories of their jobs."""
        return {row.path: row.quota for row in self._table.all()}

    def limits(self) -> dict[str, int]:
        """Return the configured limits, by the directories of their jobs."""
        return {path: quota.limit for path, quota in self.all().items() if quota.limit}

    def find(self, path: str) -> KeptQuota:
        """Return the quota of a job by its directory; a quota without a limit if none is set."""
        row = self._table.find(path)
        return KeptQuota(path) if row is None else row.quota

    def set(self, path: str, limit: int) -> None:
        """Set a limit.

        Args:
            path: Directory of the job; "" for all jobs together.
            limit: Bytes; 0 for none.
        """
        self.keep(msgspec.structs.replace(self.find(path), limit=limit))

    def move(self, before: str, after: str) -> None:
        """Keep the quota of a job that was moved.

        Args:
            before: Its former directory.
            after: Its new directory.
        """
        quota = self.find(before)
        self.keep(KeptQuota(before))
        self.keep(msgspec.structs.replace(quota, path=after))

    def keep(self, quota: KeptQuota) -> None:
        """Store the quota of a job, or delete it if it has no effect."""
        before = self.find(quota.path).level
        has_effect = bool(quota.limit or quota.held or quota.trouble)
        if has_effect:
            self._table.put(QuotaRow(quota.path, quota))
        else:
            self._table.drop(quota.path)
        if (quota.level if has_effect else QuotaLevel.FREE) != before:
            self._tell()


async def require_quota(quotas: DiskQuotaBook, job: FoundJob) -> None:
    """Refuse a start that would be paused at once because a quota of the job is used up.

    Args:
        quotas: The quotas.
        job: The job.

    Raises:
        RefusedRequestError: The quota of the job or of all jobs is used up (409).
    """
    root = job.layout.root
    own, total = quotas.find(str(root)), quotas.find(ALL_JOBS)
    used = await asyncio.to_thread(disk_usage, root) if own.limit else 0
    for whose, quota, used_bytes in (
        ("its quota", own, used),
        ("the quota of all jobs", total, total.used),
    ):
        if quota.limit and used_bytes >= quota.limit:
            text = decide_quota(used_bytes, quota.limit).text
            raise RefusedRequestError(
                409,
                "quota",
                message(
                    "console.quota-used",
                    "{id} is not started: {whose} of disk space is used up ({text}); "
                    "Administration "
                    "sets another one",
                    id=job.id,
                    whose=whose,
                    text=text,
                ),
            )
