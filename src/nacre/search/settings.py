"""The section `cycle.index` of a configuration: the content of an index of words."""

from pydantic import field_validator

from nacre.config.component import Bytes, Component, setting
from nacre.search.filters import AnyFilter
from nacre.search.server_kinds import OpenSearchSettings, SolrSettings
from nacre.search.writer_kinds import WRITERS, AnyWriter, LocalIndexSettings

WRITERS.add(SolrSettings, OpenSearchSettings)


def _usual() -> tuple[AnyWriter, ...]:
    return (LocalIndexSettings(),)


class IndexSettings(Component):
    """An index of words (`nacre cycle DIR index`, `nacre index`)."""

    main_content: bool = setting(
        True,
        "Separate the text of an HTML page from parts that every page of a site repeats, such "
        "as menus: these are found too, but count less.",
        sheets=False,
    )
    max_content: int = setting(
        1_000_000,
        "Characters of a document that are indexed, and of what menus and footers add to them.",
        unit="characters",
        ge=1,
        sheets=False,
    )
    max_document: Bytes = setting(
        20_000_000,
        "Bytes of a document that are read for its text, its compression removed.",
        unit="bytes",
        ge=1_000,
        sheets=False,
    )
    score_power: float = setting(
        0.5,
        "The boost of a page is its score to this power (`indexer.score.power`), unless a kind of "
        "`cycle.scoring` changes it. 0: all are equal.",
        ge=0,
        sheets=False,
    )
    writers: tuple[AnyWriter, ...] = setting(
        _usual,
        "Who is given documents: `local`, the embedded index; files by `jsonl`, `csv` and "
        "`parquet`; the servers `solr` and `opensearch`; `dummy`; or those of plug-ins. A name, or "
        "a mapping with settings such as `{writer: csv, fields: [id, title]}`.",
        min_length=1,
        sheets=False,
    )
    filters: tuple[AnyFilter, ...] = setting(
        (),
        "What changes documents or leaves them out, in order: `static`, `replace`, or those of "
        "plug-ins; a name, or a mapping such as `{filter: static, fields: {source: [web]}}`.",
        sheets=False,
    )
    rounds: bool = setting(
        False,
        "Bring what changed into the index at the end of each round (`nacre cycle DIR --index`).",
        sheets=False,
    )
    noindex: bool = setting(
        True,
        "Leave out pages whose robots directives say `noindex`.",
        sheets=False,
    )

    @field_validator("writers")
    @classmethod
    def _different_names(cls, value: tuple[AnyWriter, ...]) -> tuple[AnyWriter, ...]:
        names = [writer.known_as for writer in value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two writers are named `{name}`: give one of them a `name`")
        return value
