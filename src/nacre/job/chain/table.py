"""The processors that a configuration can name: Nacre's own, and those of plug-ins."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.config.kinds import KindTable
from nacre.job.chain.entry import Entry


class ProcessorTable(KindTable[Entry]):
    """Processors by their short names, and by Heritrix's class names."""

    def __init__(self) -> None:
        shape = "it is a name, or a mapping with `processor: NAME`"
        super().__init__(Entry, Entry.kinds, "processor", shape)

    def named(self, name: str) -> type[Entry] | None:
        """See `KindTable.named`."""
        last = name.rpartition(".")[2]
        of_heritrix = (kind for kind in self if kind.heritrix and kind.heritrix == last)
        return super().named(name) or next(of_heritrix, None)

    def other_names(self) -> Iterable[str]:
        """See `KindTable.other_names`."""
        return (kind.heritrix for kind in self if kind.heritrix)


PROCESSORS = ProcessorTable()
"""The processors of this process."""

IN_SCHEMA = "x-nacre-processor"
"""Placeholder of an entry in a JSON Schema, until its maker puts all entries there."""

AnyEntry = Annotated[
    Entry,
    PlainValidator(PROCESSORS.read),
    SerializeAsAny(),
    WithJsonSchema({IN_SCHEMA: True}),
]
"""An entry of a chain, chosen by its short name or Heritrix's class name."""
