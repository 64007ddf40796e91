"""A table of the kinds of a component that a configuration can name: rules, processors."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from nacre.config.spelling import nearest

T = TypeVar("T", bound=BaseModel)


class KindTable(Generic[T]):
    """Kinds by their short names: Nacre's own, and those of plug-ins.

    Args:
        base: What all kinds are.
        kinds: Those known; it is added to.
        key: The field that names the kind, which is also what people call it: `rule`, `processor`.
        shape: What a configuration says of one, for the error.
    """

    def __init__(self, base: type[T], kinds: dict[str, type[T]], key: str, shape: str) -> None:
        self._base = base
        self._kinds = kinds
        self._key = key
        self._shape = shape
        self._more: Callable[[], Iterable[type[T] | str]] | None = None
        self._faults: list[str] = []

    def __iter__(self) -> Iterator[type[T]]:
        return iter(self._kinds.values())

    def add(self, *kinds: type[T]) -> None:
        """Let configurations name these.

        Raises:
            ValueError: One has no field that names it, with a default, or its name is taken.
        """
        key = self._key
        for kind in kinds:
            field = kind.model_fields.get(key)
            name = field.default if field is not None else None
            if not isinstance(name, str):
                raise self._none(f'{kind.__qualname__} needs a field `{key}: Literal["…"] = "…"`')
            if self._kinds.get(name, kind) is not kind:
                raise ValueError(f"there is a {key} {name!r} already")
            self._kinds[name] = kind

    def when_missing(self, more: Callable[[], Iterable[type[T] | str]]) -> None:
        """Ask for those of plug-ins once a configuration names one that is not known.

        Args:
            more: The kinds; a text says why a plug-in cannot be used.
        """
        self._more = more
        self._faults.clear()

    def load(self) -> None:
        """Ask for them now."""
        more, self._more = self._more, None
        for offer in more() if more is not None else ():
            try:
                if isinstance(offer, str):
                    self._faults.append(offer)
                else:
                    self.add(offer)
            except ValueError as error:
                self._faults.append(f"the plug-in {offer}: {error}")

    def kind(self, name: object) -> type[T]:
        """The kind of a name.

        Raises:
            ValueError: There is none; the text suggests one.
        """
        key = self._key
        if not isinstance(name, str):
            raise self._none(f"it says no `{key}`, the name of the {key}")
        found = self.named(name)
        if found is None:
            self.load()
            found = self.named(name)
        if found is None:
            near = nearest(name, [*self._kinds, *self.other_names()])
            known = ", ".join(sorted(self._kinds))
            hint = f"did you mean `{near}`?" if near else f"one of: {known}"
            raise ValueError("; ".join((f"there is no {key} {name!r}; {hint}", *self._faults)))
        return found

    def read(self, value: object) -> T:
        """One from what a configuration says: its name, or a mapping that holds it.

        Raises:
            ValueError: It is none, or its settings are wrong.
        """
        if isinstance(value, self._base):
            return value
        if isinstance(value, str):
            value = {self._key: value}
        if not isinstance(value, Mapping):
            raise self._none(self._shape)
        said = self.spelled(value)
        kind = self.kind(said.get(self._key))
        return kind.model_validate({**said, self._key: kind.model_fields[self._key].default})

    def named(self, name: str) -> type[T] | None:
        """The kind of a name, of those known."""
        return self._kinds.get(name)

    def other_names(self) -> Iterable[str]:
        """Names beside the short ones that `named` knows."""
        return ()

    def spelled(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """What was said, in Nacre's names of settings."""
        return dict(value)

    def _none(self, why: str) -> ValueError:
        # Pydantic collects ValueErrors; a TypeError would end the whole check.
        return ValueError(f"not a {self._key}: {why}")
