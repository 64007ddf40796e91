"""The kinds of writers, with their settings: `cycle.index.writers` lists those of a job.

A plug-in subclasses `WriterSettings` and is offered as an entry point, as rules are. Writers are
imported when they are made: a reader of configurations needs none, and they are slow to load.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.config.component import Component, ComponentRegistry, setting
from nacre.errors import ConfigError
from nacre.messages import message
from nacre.search.document import FIELD_TYPES, SearchDocument
from nacre.search.writers import DocumentWriter


class WriterSettings(Component):
    """A writer, as `cycle.index.writers` has it."""

    name: str = setting(
        "",
        "Name of the writer, by which its documents are known; two of one kind need different "
        "ones. Empty: its kind.",
        sheets=False,
        pattern=r"^[A-Za-z0-9_.-]*$",
        max_length=64,
    )
    copy_fields: dict[str, tuple[str, ...]] = setting(
        dict, "Fields that are copied: their names, each with those of its copies.", sheets=False
    )
    rename: dict[str, str] = setting(
        dict, "Fields that get other names (after copies are made).", sheets=False
    )
    remove: tuple[str, ...] = setting((), "Fields that are left out.", sheets=False)
    when: str = setting(
        "",
        "SQL condition over the fields of a document, before they are copied or renamed; the "
        "writer is given those for which it is true. Fields of filters are in `more['name']`, a "
        "list (`exchanges.xml`). Empty: it is given all.",
        sheets=False,
        sample="\"host = 'example.org' and lang = 'zh'\"",
    )

    @property
    def kind(self) -> str:
        """The kind, such as `csv`."""
        return str(type(self).model_fields["writer"].default)

    @property
    def known_as(self) -> str:
        """The name of the writer."""
        return self.name or self.kind

    def make(self, folder: Path) -> DocumentWriter:
        """Make the writer; it is not opened.

        Args:
            folder: The folder `index` of the job.
        """
        raise NotImplementedError

    def mapped(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a document, renamed, copied and dropped by the settings."""
        for name, copies in self.copy_fields.items():
            if name in fields:
                fields |= dict.fromkeys(copies, fields[name])
        renamed = {self.rename.get(name, name): value for name, value in fields.items()}
        return {name: value for name, value in renamed.items() if name not in self.remove}


class LocalIndexSettings(WriterSettings):
    """The embedded index, in which `nacre search` looks."""

    writer: Literal["local"] = "local"

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        from nacre.search.local_index import LocalWriter  # noqa: PLC0415 - see the module

        return LocalWriter(folder / "search", self.known_as)


class JsonLinesSettings(WriterSettings):
    """Files of JSON Lines in `index/NAME`."""

    writer: Literal["jsonl"] = "jsonl"

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        from nacre.search.writers.files import FilesWriter, json_lines  # noqa: PLC0415 - likewise

        place = folder / self.known_as
        return FilesWriter(place, self.known_as, "jsonl", json_lines, self.mapped)


class ParquetFilesSettings(WriterSettings):
    """Files of Parquet in `index/NAME`."""

    writer: Literal["parquet"] = "parquet"

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        from nacre.search.writers.files import (  # noqa: PLC0415 - likewise
            FilesWriter,
            parquet_encoder,
        )

        place = folder / self.known_as
        # The types are mapped as documents are, so that the columns follow the settings only.
        encode = parquet_encoder(self.known_as, self.mapped(dict(FIELD_TYPES)))
        return FilesWriter(place, self.known_as, "parquet", encode, self.mapped)


class CsvSettings(WriterSettings):
    """Files of CSV in `index/NAME`. Source: Nutch, `indexer-csv`."""

    writer: Literal["csv"] = "csv"
    fields: tuple[str, ...] = setting(
        ("id", "title", "content"), "The columns (`fields`).", min_length=1, sheets=False
    )
    separator: str = setting(
        ",", "Between the columns (`separator`).", min_length=1, max_length=1, sheets=False
    )

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        from nacre.search.writers.files import FilesWriter, csv_encoder  # noqa: PLC0415 - likewise

        encode = csv_encoder(self.fields, self.separator)
        return FilesWriter(folder / self.known_as, self.known_as, "csv", encode, self.mapped)


class DummySettings(WriterSettings):
    """Accepts documents and drops them, to try an index. Source: Nutch."""

    writer: Literal["dummy"] = "dummy"

    def make(self, folder: Path) -> DocumentWriter:
        """See `WriterSettings.make`."""
        return _DummyWriter(self.known_as)


class _DummyWriter:
    def __init__(self, name: str) -> None:
        self.name = name

    def open(self, *, rebuild: bool = False) -> bool:
        return rebuild

    def write(self, batch: Sequence[SearchDocument]) -> None:
        pass

    def delete(self, ids: Sequence[str]) -> None:
        pass

    def commit(self) -> None:
        pass

    def close(self) -> None:
        pass


WRITERS = ComponentRegistry(
    WriterSettings,
    "writer",
    message("search.writer-shape", "write the name of a kind, or a mapping with `writer`"),
)
"""Kinds of writers by name, those of plug-ins too."""

WRITERS.add(LocalIndexSettings, JsonLinesSettings, ParquetFilesSettings, CsvSettings, DummySettings)


def chosen_writers(writers: Sequence[WriterSettings], name: str) -> Sequence[WriterSettings]:
    """Return the writers that are meant.

    Args:
        writers: Those of the settings.
        name: Name of one; "" for all.

    Raises:
        ConfigError: There is none of this name.
    """
    chosen = [writer for writer in writers if name in ("", writer.known_as)]
    if not chosen:
        names = ", ".join(writer.known_as for writer in writers)
        raise ConfigError(f"--writer {name}: cycle.index.writers has no such writer, but {names}")
    return chosen


AnyWriter = Annotated[
    SerializeAsAny[WriterSettings],
    PlainValidator(WRITERS.read),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object", "required": ["writer"]}]}),
]
"""A writer with its settings, by its kind or as a mapping."""
