"""The settings under each combination of sheets: one object each, found by an index."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Effective(list[T]):
    """One thing under each combination of sheets: `effective[visit.overlay]`.

    A list, so that the hot path pays only for an index. Place 0 has the settings without sheets.
    Combinations with equal values share one object. Whoever works with settings keeps this, never
    one of its members: when settings change in a running job, the members are replaced in place
    (`replace`), and the next access finds the new values.
    """

    __slots__ = ("_followers", "_watchers")

    def __init__(self, values: Iterable[T]) -> None:
        super().__init__(values)
        self._followers: list[Callable[[int], None]] = []
        self._watchers: list[Callable[[], None]] = []

    def then(self, make: Callable[[T], U]) -> "Effective[U]":
        """Derive a value from each distinct member, once, and again when it changes."""
        made_by_id: dict[int, tuple[T, U]] = {}

        def made_of(value: T) -> U:
            cached = made_by_id.get(id(value))
            if cached is None:
                cached = made_by_id[id(value)] = (value, make(value))
            return cached[1]

        def follow(first: int) -> None:
            if first:
                for value in self[first:]:
                    result.add(made_of(value))
                return
            used = {id(value) for value in self}
            for gone in [key for key in made_by_id if key not in used]:
                del made_by_id[gone]
            result.replace([made_of(value) for value in self])

        result: Effective[U] = Effective(())
        follow(0)
        self._followers.append(follow)
        return result

    def watch(self, changed: Callable[[], None]) -> None:
        """Call a function after each `replace`."""
        self._watchers.append(changed)

    def add(self, value: T) -> int:
        """Return a new combination; its number."""
        self.append(value)
        number = len(self) - 1
        for follow in self._followers:
            follow(number)
        return number

    def replace(self, values: Iterable[T]) -> None:
        """Replace the members in place, and append more; followers are notified."""
        self[:] = values
        for follow in self._followers:
            follow(0)
        for changed in self._watchers:
            changed()


def fixed(value: T) -> Effective[T]:
    """Settings that no sheet changes."""
    return Effective((value,))
