"""The processors that a configuration can name: Nacre's own, and those of plug-ins."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.config.facts import nearest
from nacre.job.chain.entry import Entry


class ProcessorTable:
    """Processors by their short names, and by Heritrix's class names."""

    def __init__(self) -> None:
        self._kinds = Entry.kinds
        self._more: Callable[[], Iterable[type[Entry] | str]] | None = None
        self._faults: list[str] = []

    def __iter__(self) -> Iterator[type[Entry]]:
        return iter(self._kinds.values())

    def add(self, *kinds: type[Entry]) -> None:
        """Let configurations name these processors.

        Raises:
            ValueError: One has no `processor` with a default, or its name is taken.
        """
        for kind in kinds:
            field = kind.model_fields.get("processor")
            name = field.default if field is not None else None
            if not isinstance(name, str):
                raise _none(f'{kind.__qualname__} needs a field `processor: Literal["…"] = "…"`')
            if self._kinds.get(name, kind) is not kind:
                raise ValueError(f"there is a processor {name!r} already")
            self._kinds[name] = kind

    def when_missing(self, more: Callable[[], Iterable[type[Entry] | str]]) -> None:
        """Ask for those of plug-ins once a configuration names one that is not known.

        Args:
            more: The processors; a text says why a plug-in cannot be used.
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

    def kind(self, name: object) -> type[Entry]:
        """The processor of a name.

        Raises:
            ValueError: There is none; the text suggests one.
        """
        if not isinstance(name, str):
            raise _none("it says no `processor`, the name of the processor")
        found = self._found(name)
        if found is None:
            self.load()
            found = self._found(name)
        if found is None:
            said = f"there is no processor {name!r}; {self._hint(name)}"
            raise ValueError("; ".join((said, *self._faults)))
        return found

    def read(self, value: object) -> Entry:
        """An entry from what a configuration says: a name, or a mapping with `processor: NAME`.

        Raises:
            ValueError: It is none, or its settings are wrong.
        """
        if isinstance(value, Entry):
            return value
        if isinstance(value, str):
            value = {"processor": value}
        if not isinstance(value, Mapping):
            raise _none("it is a name, or a mapping with `processor: NAME`")
        kind = self.kind(value.get("processor"))
        said: dict[str, Any] = {**value, "processor": kind.model_fields["processor"].default}
        return kind.model_validate(said)

    def _found(self, name: str) -> type[Entry] | None:
        last = name.rpartition(".")[2]
        named = (kind for kind in self if kind.heritrix and kind.heritrix == last)
        return self._kinds.get(name) or next(named, None)

    def _hint(self, name: str) -> str:
        classes = {kind.heritrix: kind for kind in self if kind.heritrix}
        near = nearest(name, [*self._kinds, *classes])
        return f"did you mean `{near}`?" if near else "one of: " + ", ".join(sorted(self._kinds))


def _none(why: str) -> ValueError:
    # Pydantic collects ValueErrors; a TypeError would end the whole check.
    return ValueError(f"not a processor: {why}")


PROCESSORS = ProcessorTable()
"""The processors of this process."""

IN_SCHEMA = "x-nacre-processor"
"""What stands for an entry in a JSON Schema, until whoever makes it puts all in its place."""

AnyEntry = Annotated[
    Entry,
    PlainValidator(PROCESSORS.read),
    SerializeAsAny(),
    WithJsonSchema({IN_SCHEMA: True}),
]
"""An entry of a chain, chosen by its short name or Heritrix's class name."""
