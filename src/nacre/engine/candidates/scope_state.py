"""Files, databases and logs for the rules of a scope, which open nothing themselves.

Country databases are in MaxMind's format; the lines of the logs have Heritrix 3's.
"""

import bz2
import errno
import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from nacre.config.extras import wanting
from nacre.engine.settings import UriSettings
from nacre.errors import ConfigError, Problem
from nacre.machine.local_files import open_ordinary
from nacre.messages import message
from nacre.report.escape import safe
from nacre.scope.normalize.chain import NormalizerChain, NormalizeScope
from nacre.scope.nutch.regexes import lines_of
from nacre.scope.rules.surt import RUN_ID
from nacre.scope.scope import UNDECIDED, Logged, Write
from nacre.scope.state import Country, ScopeState
from nacre.store.seam import Disk
from nacre.store.writer import write_whole
from nacre.uri.parse import host
from nacre.uri.surt import surt_authority

MAX_BYTES = 1_000_000_000
"""Longest rule file, unpacked."""

_LOOK = 65_536
"""Number of bytes that are checked to decide whether a file is text."""


class RuleFiles:
    """Reads rule files; each once.

    Args:
        root: The directory that their names are relative to.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, list[str]] = {}

    def read_lines(self, name: str) -> list[str]:
        """Return the lines of a file, without line ends; invalid UTF-8 is replaced.

        Raises:
            OSError: It cannot be read.
        """
        lines = self._known.get(name)
        if lines is None:
            lines = self._known[name] = lines_of(
                _read(self._root / name).decode("utf-8", "replace")
            )
        return lines


def _read(path: Path) -> bytes:
    try:
        with open_ordinary(path) as packed, _open_unpacked(packed, path.suffix.lower()) as file:
            data = file.read(_LOOK)
            if b"\0" in data:
                raise OSError(
                    errno.EINVAL,
                    message("engine.binary-file", "it is not text: there are NUL bytes in it"),
                    str(path),
                )
            data += file.read(MAX_BYTES + 1 - len(data))
    except (EOFError, zlib.error) as error:
        raise OSError(errno.EINVAL, f"damaged: {error}", str(path)) from error
    if len(data) > MAX_BYTES:
        raise OSError(
            errno.EFBIG,
            message(
                "engine.longer-than-bytes", "longer than {max_bytes} bytes", max_bytes=MAX_BYTES
            ),
            str(path),
        )
    return data


def _open_unpacked(file: BinaryIO, suffix: str) -> BinaryIO | gzip.GzipFile | bz2.BZ2File:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file, mode="rb")
    return bz2.BZ2File(file, "rb") if suffix == ".bz2" else file


def all_chains(settings: UriSettings, files: RuleFiles) -> Iterator[NormalizerChain]:
    """Yield the chains that a crawl uses: for seeds, for links, for redirects."""
    for scope in (NormalizeScope.INJECT, NormalizeScope.OUTLINK, NormalizeScope.FETCHER):
        yield NormalizerChain(
            settings.normalize, scope, files.read_lines, loops=settings.normalize_loops
        )


def database_problem(path: Path) -> str:
    """Return the reason why a database cannot be used, with the remedy; "" when it can."""
    try:
        open_countries(path)
    except ConfigError as error:
        return error.problems[0].message
    return ""


def open_countries(path: Path) -> Country:
    """Return a look-up of country codes by address.

    Raises:
        ConfigError: The file is no such database, or cannot be read.
    """
    if find_spec("maxminddb") is None:
        raise ConfigError(
            [
                Problem(
                    "",
                    wanting(
                        "country databases need",
                        "maxminddb",
                    ),
                )
            ]
        )
    import maxminddb  # noqa: PLC0415 - an extra

    try:
        reader = maxminddb.open_database(path)
    except (OSError, maxminddb.InvalidDatabaseError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        text = message(
            "engine.cannot-be-used",
            "{name} cannot be used: {reason}; get a country database in MaxMind's format, such "
            "as GeoLite2-Country.mmdb",
            name=path.name,
            reason=reason,
        )
        raise ConfigError([Problem("", text)]) from None

    def country(address: str) -> str:
        try:
            return _code(reader.get(address.strip("[]")))
        except (ValueError, maxminddb.InvalidDatabaseError):
            return ""

    return country


def _code(record: object) -> str:
    """Return the code in a record of MaxMind, DB-IP or IPinfo; "" when there is none."""
    if not isinstance(record, dict):
        return ""
    for key in ("country", "registered_country", "country_code"):
        value = record.get(key)
        code = value.get("iso_code") if isinstance(value, dict) else value
        if isinstance(code, str) and len(code) == 2:
            return code.upper()
    return ""


def _unwritten(_: Logged) -> None:
    """Write no decision down."""


def scope_state(
    root: Path,
    files: RuleFiles,
    *,
    queue_of: Callable[[str], str] = surt_authority,
    write: Write = _unwritten,
) -> ScopeState:
    """Return a state whose rules can read the files of a job.

    Args:
        root: Directory of the job.
        files: Reads rule files.
        queue_of: The queue key of a URL.
        write: Writes decisions down.
    """
    return ScopeState(
        read_lines=files.read_lines,
        countries=lambda name: open_countries(root / name),
        queue_of=queue_of,
        write=write,
    )


def dump_prefixes(state: ScopeState, disk: Disk, root: Path, run: str) -> None:
    """Write the files that rules want their SURT prefixes in.

    Raises:
        StorageError: One cannot be written.
    """
    for dump in state.dumps:
        path = root / dump.file.replace(RUN_ID, f"runs/{run}")
        disk.makedirs(str(path.parent))
        write_whole(disk, str(path), "".join(f"{line}\n" for line in dump.lines()).encode())


SCOPE = "scope"
"""Name of the log of the whole scope (`engine.scope_log`)."""


def decision_line(entry: Logged, time: str) -> tuple[str, str]:
    """Return the file and the line of a decision.

    Text: time, number and class of the rule that decided (-1 and `-` for none), decision, URI, and
    with extra info hop path, via, seed and host as JSON. A feed has all of it as one JSON object.
    """
    if entry.log.feed:
        return f"{entry.log.name}.jsonl", _json({**_decision(entry, time), **_extra(entry)})
    rule = entry.kind if entry.number != UNDECIDED else "-"
    line = f"{time} {entry.number} {safe(rule)} {entry.decision} {safe(entry.subject.url)}"
    extra = f" {_json(_extra(entry))}" if entry.log.extra else "\n"
    return f"{entry.log.name}.log", line + extra


def _decision(entry: Logged, time: str) -> dict[str, str | int]:
    return {
        "timestamp": time,
        "number": entry.number,
        "rule": entry.kind,
        "decision": str(entry.decision),
        "url": entry.subject.url,
    }


def _extra(entry: Logged) -> dict[str, str | int]:
    subject = entry.subject
    return {
        "hopPath": subject.path,
        "via": subject.via,
        "seed": subject.source,
        "host": host(subject.url),
    }


def _json(values: dict[str, str | int]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"
