"""Settings of the WARC writer."""

from pydantic import field_validator

from nacre.archive.filename import check_directory, check_template
from nacre.config.component import Bytes, Component, setting


class WarcSettings(Component):
    """WARC files: names, sizes, compression, and what their warcinfo record says."""

    prefix: str = setting("NACRE", "First part of the file names.", live=False, sheets=False)
    template: str = setting(
        "${prefix}-${timestamp17}-${serialno}-${hostname}",
        "File names without suffix. Variables: prefix, timestamp17, timestamp14, serialno, "
        "hostname, pid, port; Heritrix's `heritrix.` before a name is accepted. Needs serialno.",
        live=False,
        sheets=False,
    )
    directories: tuple[str, ...] = setting(
        ("archive",),
        "Where the files go, one after another; relative to the run, or absolute. `${job}`, "
        "`${launchId}` (name of the run) and `${env:NAME}` are filled in.",
        live=False,
        sheets=False,
        min_length=1,
    )
    max_file_size: Bytes = setting(
        1_000_000_000,
        "Size at which the next file begins; checked before a capture, which is never divided.",
        unit="bytes",
        sheets=False,
        ge=1,
    )
    max_total: Bytes = setting(
        0, "Bytes of WARC after which the crawl stops; 0: no limit.", unit="bytes", sheets=False
    )
    large_record: Bytes = setting(
        8_000_000,
        "Bodies over this size go into a second series of files, made in the background.",
        unit="bytes",
        sheets=False,
    )
    compress: bool = setting(
        default=True, doc="One gzip member per record; else plain files.", live=False, sheets=False
    )
    level: int = setting(
        1, "Effort of compression; 3 takes twice the time for 4 % less.", sheets=False, ge=0, le=3
    )
    operator: str = setting("", "Who runs the crawl, for warcinfo.", live=False, sheets=False)
    publisher: str = setting("", "Organisation, for warcinfo.", live=False, sheets=False)
    audience: str = setting("", "For whom it is made, for warcinfo.", live=False, sheets=False)
    description: str = setting("", "What is crawled, for warcinfo.", live=False, sheets=False)

    @field_validator("template")
    @classmethod
    def _known_template(cls, value: str) -> str:
        check_template(value)
        return value

    @field_validator("directories")
    @classmethod
    def _contained_directories(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for directory in value:
            check_directory(directory)
        return value
