"""The places of a console, in its database: those that admins added, and those of its start."""

from collections.abc import Sequence
from pathlib import Path

from nacre.console.access.database import ConsoleDatabase
from nacre.console.fleet.places import JobPlace, new_place
from nacre.errors import JobError
from nacre.store.layout import Layout


class PlaceBook:
    """The places that were added to those of the command line.

    Args:
        database: Keeps them.
    """

    def __init__(self, database: ConsoleDatabase) -> None:
        self._database = database

    def all(self) -> list[Path]:
        """The directories that are still there."""
        rows = self._database.rows("SELECT root FROM places ORDER BY root")
        return [path for path in (Path(str(row[0])) for row in rows) if path.is_dir()]

    def beside(self, named: Sequence[JobPlace]) -> tuple[JobPlace, ...]:
        """The places that were named, and those that were added to them.

        Args:
            named: Those of the command line.
        """
        places = tuple(named)
        for root in self.all():
            if all(place.root != root for place in places):
                places += (new_place(root, {place.label for place in places}),)
        return places

    def serve(self, named: Sequence[JobPlace]) -> None:
        """Keep the places that a console is started with: commands know jobs by the same names."""
        with self._database.together():
            self._database.rows("DELETE FROM served")
            for place in named:
                self._database.rows(
                    "INSERT INTO served (label, root) VALUES (?, ?)", place.label, str(place.root)
                )

    def served(self) -> tuple[JobPlace, ...]:
        """The places of the console that was started last, and those that were added to them."""
        rows = self._database.rows("SELECT label, root FROM served ORDER BY number")
        found = [JobPlace(str(label), Path(str(root))) for label, root in rows]
        named = [one._replace(job=Layout(one.root).config.is_file()) for one in found]
        return self.beside([one for one in named if one.root.is_dir()])

    def add(self, root: Path) -> None:
        """Keep a directory."""
        self._database.rows("INSERT OR REPLACE INTO places VALUES (?)", str(root))

    def remove(self, root: Path) -> bool:
        """Forget a directory; False where it was not kept."""
        found = self._database.row("DELETE FROM places WHERE root = ? RETURNING 1", str(root))
        return found is not None


def checked_place(directory: str, known: tuple[JobPlace, ...], user: int) -> JobPlace:
    """A place that may be added: a directory of this user, which is not in another one.

    Args:
        directory: Its path, absolute.
        known: The places that there are.
        user: Number of this user.

    Raises:
        JobError: It may not.
    """
    given = Path(directory)
    if not given.is_absolute():
        raise JobError(f"{directory} is no absolute path; write it in full")
    try:
        root = given.resolve(strict=True)
        facts = root.stat()
    except OSError as error:
        raise JobError(f"{directory} cannot be used: {error.strerror}") from None
    if not root.is_dir():
        raise JobError(f"{directory} is not a directory; name one that holds jobs")
    if facts.st_uid != user:
        raise JobError(f"{directory} belongs to another user; the console shows jobs of its own")
    for place in known:
        other = place.root.resolve()
        if root.is_relative_to(other) or other.is_relative_to(root):
            raise JobError(f"{directory} and the place {place.root} are one in the other")
    return new_place(root, {place.label for place in known})
