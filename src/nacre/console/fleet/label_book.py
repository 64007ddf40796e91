"""The names and tags that people gave to jobs, in the console's database."""

from typing import Final

import msgspec

from nacre.console.access.database import ConsoleDatabase
from nacre.console.fleet.places import FoundJob
from nacre.console.problems import RefusedRequestError
from nacre.messages import message
from nacre.ops.fields import ShortText, ShortTexts

LONGEST_NAME: Final = 100
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 20
"""Tags of one job."""


class JobLabels(msgspec.Struct, frozen=True):
    """The labels of a job.

    Attributes:
        name: Its name; "" for that of its directory.
        tags: Its tags, in order.
    """

    name: str = ""
    tags: tuple[str, ...] = ()


class JobLabelsWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of a job's labels, and of its place; what is left out stays.

    Attributes:
        name: Its name, 100 characters at most; "" for that of its directory.
        tags: All its tags, 20 at most; each has 40 characters at most, and no comma.
        place: Label of the place that its directory is moved to.
    """

    name: ShortText | msgspec.UnsetType = msgspec.UNSET
    tags: ShortTexts | msgspec.UnsetType = msgspec.UNSET
    place: ShortText | msgspec.UnsetType = msgspec.UNSET


NONE: Final = JobLabels()


class LabelBook:
    """The labels of all jobs, by their directories.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database
        # Lists of jobs are made each second: they ask the memory.
        self._known: dict[str, JobLabels] = {}
        self.read()

    def read(self) -> None:
        """Read them anew: a command may have changed them."""
        self._known = {
            str(path): JobLabels(str(name), tuple(filter(None, str(tags).split(","))))
            for path, name, tags in self._database.rows("SELECT path, name, tags FROM labels")
        }

    def of(self, job: FoundJob) -> JobLabels:
        """The labels of a job."""
        return self.of_path(str(job.layout.root))

    def of_path(self, path: str) -> JobLabels:
        """The labels of the job of a directory."""
        return self._known.get(path, NONE)

    def set(self, job: FoundJob, labels: JobLabels) -> None:
        """Keep the labels of a job."""
        path = str(job.layout.root)
        self._database.rows(
            "INSERT OR REPLACE INTO labels VALUES (?, ?, ?)",
            path, labels.name, ",".join(labels.tags),
        )  # fmt: skip
        self._known[path] = labels

    def move(self, before: str, after: str) -> None:
        """Keep the labels of a job that has another directory now.

        Args:
            before: Its directory until now.
            after: That of now.
        """
        self._database.rows("DELETE FROM labels WHERE path = ?", after)
        self._database.rows("UPDATE labels SET path = ? WHERE path = ?", after, before)
        self._known.pop(after, None)
        if before in self._known:
            self._known[after] = self._known.pop(before)

    def all_tags(self, jobs: list[FoundJob]) -> list[str]:
        """The tags that some of these jobs have, in order."""
        return sorted({tag for job in jobs for tag in self.of(job).tags})


def changed_labels(labels: JobLabels, wish: JobLabelsWish) -> JobLabels:
    """The labels after a change.

    Raises:
        RefusedRequestError: The name or a tag cannot be taken (422).
    """
    name = labels.name if wish.name is msgspec.UNSET else wish.name.strip()
    _require(name, "name", LONGEST_NAME)
    if wish.tags is msgspec.UNSET:
        return JobLabels(name, labels.tags)
    tags = sorted({tag.strip() for tag in wish.tags} - {""})
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


def _require(text: str, what: str, most: int) -> None:
    if len(text) > most:
        raise _refused(
            message(
                "console.text-length",
                "the {what} has {number} characters; {most} are the most: shorten {text!r}",
                what=what,
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
                what=what,
                text=text,
            )
        )


def _refused(text: str) -> RefusedRequestError:
    return RefusedRequestError(422, "labels", text)
