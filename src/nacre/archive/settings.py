"""Settings of the WARC writer, and the names of its files from Heritrix's template."""

import re
from collections.abc import Mapping

from pydantic import field_validator

from nacre.archive.fields import DATE_DIGITS
from nacre.config.component import Bytes, Component, FileName, Seconds, ServerAddress, setting
from nacre.errors import ConfigError, URIError
from nacre.uri.parse import origin, parse

VARIABLES = (
    "prefix",
    "timestamp17",
    "timestamp14",
    "serialno",
    "hostname",
    "pid",
    "port",
    "unit",
)

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._~+=@,-]")
_LONGEST = 200  # bytes; file systems take 255, and suffixes follow


def file_name(template: str, values: Mapping[str, str]) -> str:
    """The name without suffix. What is not a letter, digit or plain sign in a value becomes `_`.

    Args:
        template: One that `check_template` accepts.
        values: Value of each of `VARIABLES`.
    """
    name = _VARIABLE.sub(lambda match: _safe(values[_plain_name(match[1])]), template)
    return name[:1].replace(".", "_") + name[1:_LONGEST]


def check_template(template: str) -> None:
    """Raise ValueError when a template names unknown variables, or cannot give safe names."""
    names = [_plain_name(name) for name in _VARIABLE.findall(template)]
    unknown = [name for name in names if name not in VARIABLES]
    if unknown:
        raise ValueError(f"unknown variable ${{{unknown[0]}}}; known: {', '.join(VARIABLES)}")
    if "serialno" not in names:
        raise ValueError("without ${serialno} two files could have one name")
    literal = _VARIABLE.sub("", template)
    unsafe = _UNSAFE.search(literal)
    if unsafe:
        raise ValueError(f"{unsafe[0]!r} is not allowed in a file name")


def check_directory(directory: str) -> None:
    """Raise ValueError when a directory is empty or climbs out with `..`."""
    if not directory or ".." in directory.split("/") or "\0" in directory:
        raise ValueError(f"{directory!r} is not a directory below the run, nor an absolute one")


def _plain_name(name: str) -> str:
    return name.removeprefix("heritrix.")


def _safe(value: str) -> str:
    return _UNSAFE.sub("_", value)


class WarcSettings(Component):
    """WARC files: names, sizes, compression, and the fields of their warcinfo record."""

    prefix: str = setting("NACRE", "First part of the file names.", live=False, sheets=False)
    template: str = setting(
        "${prefix}-${timestamp17}-${serialno}-${hostname}",
        "File names without suffix. Variables: prefix, timestamp17, timestamp14, serialno, "
        "hostname, pid, port, unit (of batch rounds); Heritrix's `heritrix.` before a name is "
        "accepted. Needs serialno.",
        live=False,
        sheets=False,
    )
    unit: str = setting(
        "",
        "Segment, unit and attempt of batch rounds, for `${unit}` in file names. The rounds set "
        "it; empty in other jobs.",
        live=False,
        sheets=False,
    )
    directories: tuple[FileName, ...] = setting(
        ("archive",),
        "Directories for the files, used in turn; relative to the run, or absolute. `${job}`, "
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
    close_idle: Seconds = setting(
        300.0,
        "While a run waits for URIs (`engine.run_while_empty`), close WARCs that got nothing for "
        "so long; the next capture begins new ones. 0: they stay open.",
        unit="s",
        sheets=False,
        ge=0,
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
    date_digits: int = setting(
        6,
        "Digits of a second in WARC-Date and WARC-Refers-To-Date: 6 as in WARC 1.1; 0, as "
        "Heritrix, or 3 for readers that refuse more, such as SolrWayback. Captures that exist "
        "keep theirs.",
        unit="digits",
        sheets=False,
        ge=0,
        le=DATE_DIGITS,
    )
    certificates: bool = setting(
        default=True,
        doc="Store the certificate chain that a server sent, once in each WARC, and refer to it "
        "from the captures (`tlsCertificates`).",
        live=False,
        sheets=False,
    )
    operator: str = setting("", "Who runs the crawl, for warcinfo.", live=False, sheets=False)
    publisher: str = setting("", "Organisation, for warcinfo.", live=False, sheets=False)
    audience: str = setting("", "For whom it is made, for warcinfo.", live=False, sheets=False)
    description: str = setting("", "What is crawled, for warcinfo.", live=False, sheets=False)
    wacz: FileName = setting(
        "",
        "File that gets all captures of the job as a WACZ when a run ends, relative to the job or "
        "absolute; a file of an earlier run is replaced. A run that is stopped or interrupted "
        "writes none. Empty: none.",
        sheets=False,
        sample="demo.wacz",
    )
    outbackcdx: ServerAddress = setting(
        "",
        "Collection of an OutbackCDX server that gets the index of each closed WARC; an address in "
        "a private network is allowed. Empty: none.",
        sheets=False,
        sample="http://127.0.0.1:8080/mycollection",
    )

    def collection_url(self) -> str:
        """Return the collection of the OutbackCDX server.

        Raises:
            ConfigError: None is set.
        """
        if not self.outbackcdx:
            raise ConfigError(
                "archive.outbackcdx is empty: name a collection, http://HOST:PORT/NAME"
            )
        return self.outbackcdx

    @field_validator("wacz")
    @classmethod
    def _named_wacz(cls, value: str) -> str:
        if value and not value.endswith(".wacz"):
            raise ValueError("the name of a WACZ ends with .wacz")
        return value

    @field_validator("outbackcdx")
    @classmethod
    def _check_server(cls, value: str) -> str:
        if not value:
            return value
        try:
            url = parse(value) if value.startswith(("http://", "https://")) else ""
        except URIError as error:
            raise ValueError(str(error)) from None
        if not url or "?" in url or "#" in url or not url.removeprefix(origin(url)).strip("/"):
            raise ValueError("a collection of OutbackCDX is http://HOST:PORT/COLLECTION")
        return url

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
