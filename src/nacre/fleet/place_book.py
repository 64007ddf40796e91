"""The places of a console, in its database: those that admins added, and those of its start."""

from collections.abc import Collection, Sequence
from pathlib import Path

from nacre.errors import JobError
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.places import JobPlace, new_place
from nacre.machine.layout import Layout
from nacre.messages import message


class PlaceBook:
    """The places that were added to those of the command line.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database

    def all(self) -> list[Path]:
        """The directories that are still there."""
        return [root for root in self._labels() if root.is_dir()]

    @property
    def labels(self) -> frozenset[str]:
        """The labels of all that were added, also of directories that are not there now."""
        return frozenset(self._labels().values()) - {""}

    def _labels(self) -> dict[Path, str]:
        rows = self._database.rows("SELECT root, label FROM places ORDER BY root")
        return {Path(str(root)): str(label) for root, label in rows}

    def beside(self, named: Sequence[JobPlace]) -> tuple[JobPlace, ...]:
        """The places that were named, and those that were added to them.

        What was added keeps its label: ids of jobs, users and schedules have it. A place that is
        named with such a label gets another one.

        Args:
            named: Those of the command line.
        """
        labels = self._labels()
        labels_in_use = set(labels.values())
        places: list[JobPlace] = []
        for place in named:
            unique = (
                place if place.label not in labels_in_use else new_place(place.root, labels_in_use)
            )
            places.append(unique._replace(label=labels.get(place.root) or unique.label))
            labels_in_use.add(places[-1].label)
        roots = {place.root for place in places}
        for root, label in labels.items():
            if root not in roots and root.is_dir():
                places.append(self._added(root, label, labels_in_use))
                labels_in_use.add(places[-1].label)
        return tuple(places)

    def _added(self, root: Path, label: str, labels_in_use: Collection[str]) -> JobPlace:
        """A place that was added; one without a label, of an earlier version, is given one."""
        place = new_place(root, labels_in_use)
        if label:
            return place._replace(label=label)
        self._database.jot("UPDATE places SET label = ? WHERE root = ?", place.label, str(root))
        return place

    def serve(self, named: Sequence[JobPlace]) -> None:
        """Keep the places that a console is started with: commands know jobs by the same names."""
        with self._database.together():
            self._database.rows("DELETE FROM served")
            for place in self.beside(named)[: len(named)]:
                self._database.rows(
                    "INSERT INTO served (label, root) VALUES (?, ?)", place.label, str(place.root)
                )

    def served(self) -> tuple[JobPlace, ...]:
        """The places of the console that was started last, and those that were added to them."""
        rows = self._database.rows("SELECT label, root FROM served ORDER BY number")
        places = [JobPlace(str(label), Path(str(root))) for label, root in rows]
        named = [place._replace(job=Layout(place.root).config.is_file()) for place in places]
        return self.beside([place for place in named if place.root.is_dir()])

    def require(self, labels: Collection[str]) -> None:
        """Refuse labels that no place has: who is restricted to a typing error sees nothing.

        Raises:
            JobError: There is one.
        """
        all_labels = sorted({*(place.label for place in self.served()), *self.labels})
        unknown = [label for label in labels if label not in all_labels]
        if unknown:
            raise JobError(
                message(
                    "console.no-place-of-name",
                    "there is no place {unknown!r}; there are: {place_names}",
                    unknown=unknown[0],
                    place_names=place_names(all_labels),
                )
            )

    def add(self, place: JobPlace) -> None:
        """Keep a place with its label."""
        self._database.rows(
            "INSERT OR REPLACE INTO places (root, label) VALUES (?, ?)",
            str(place.root), place.label,
        )  # fmt: skip

    def remove(self, root: Path) -> bool:
        """Forget a directory; False if it was not kept."""
        row = self._database.row("DELETE FROM places WHERE root = ? RETURNING 1", str(root))
        return row is not None


def place_names(labels: Sequence[str]) -> str:
    """The labels of places for a message (pure)."""
    return ", ".join(labels) or (
        "none: start `nacre console DIR` once, or add one by `nacre console place add DIR`"
    )


def checked_place(
    directory: str, places: tuple[JobPlace, ...], user: int, labels: Collection[str] = ()
) -> JobPlace:
    """A place that may be added: a directory of this user, which is not in another one.

    Args:
        directory: Its path, absolute.
        places: The places that there are.
        user: Number of this user.
        labels: Further labels that it may not have: those of places that are not there now.

    Raises:
        JobError: It may not.
    """
    root = _own_directory(directory, user)
    for place in places:
        place_root = place.root.resolve()
        if root.is_relative_to(place_root) or place_root.is_relative_to(root):
            raise JobError(
                message(
                    "console.places-nested",
                    "{directory} and the place {root} are one in the other",
                    directory=directory,
                    root=place.root,
                )
            )
    return new_place(root, {*labels, *(place.label for place in places)})


def _own_directory(directory: str, user: int) -> Path:
    """Return a directory of a user by its absolute path, without links.

    Raises:
        JobError: It is no such directory.
    """
    path = Path(directory)
    if not path.is_absolute():
        raise JobError(
            message(
                "console.path-not-absolute",
                "{directory} is no absolute path; write it in full",
                directory=directory,
            )
        )
    try:
        root = path.resolve(strict=True)
        facts = root.stat()
    except OSError as error:
        raise JobError(
            message(
                "console.directory-unusable",
                "{directory} cannot be used: {strerror}",
                directory=directory,
                strerror=error.strerror,
            )
        ) from None
    if not root.is_dir():
        raise JobError(
            message(
                "console.not-a-directory",
                "{directory} is not a directory; name one that holds jobs",
                directory=directory,
            )
        )
    if facts.st_uid != user:
        raise JobError(
            message(
                "console.directory-owner",
                "{directory} belongs to another user; the console shows its user's jobs only",
                directory=directory,
            )
        )
    return root
