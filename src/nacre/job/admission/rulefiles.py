"""Files that rules and normalizers name: read for them, since they open nothing themselves."""

import bz2
import errno
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nacre.config.ordinary import open_ordinary
from nacre.errors import ConfigError, Problem
from nacre.history.schedule.nutch import NutchRates, read_mime_rates
from nacre.job.admission.preloaded import Preloaded
from nacre.job.configuration.settings import JobSettings
from nacre.scope.normalize.chain import NormalizerChain, NormalizeScope
from nacre.scope.nutch.rules import FilterRule, NutchExempt
from nacre.scope.nutch.ruling import lines_of
from nacre.uri.canonical import Canonicalizer

MAX_BYTES = 1_000_000_000
"""Longest rule file, unpacked."""


_LOOK = 65_536
"""Bytes that tell whether a file is a text."""


class RuleFiles:
    """Reads rule files; each once.

    Args:
        root: The directory that their names are relative to.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, list[str]] = {}

    def read_lines(self, name: str) -> list[str]:
        """The lines of a file, without their ends; what is no UTF-8 is replaced.

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
        with open_ordinary(path) as packed, _unpacked(packed, path.suffix.lower()) as file:
            data = file.read(_LOOK)
            if b"\0" in data:
                raise OSError(errno.EINVAL, "it is no text: there are NUL bytes in it", str(path))
            data += file.read(MAX_BYTES + 1 - len(data))
    except (EOFError, zlib.error) as error:
        raise OSError(errno.EINVAL, f"damaged: {error}", str(path)) from error
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"longer than {MAX_BYTES} bytes", str(path))
    return data


def _unpacked(file: BinaryIO, suffix: str) -> BinaryIO | gzip.GzipFile | bz2.BZ2File:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file, mode="rb")
    return bz2.BZ2File(file, "rb") if suffix == ".bz2" else file


class RuleFindings(NamedTuple):
    """What is wrong with rule files, and what the operator should know of them."""

    problems: list[Problem]
    warnings: list[Problem]


def examine_rule_files(settings: JobSettings, files: RuleFiles) -> RuleFindings:
    """Read every rule file that the scope and the normalizers name."""
    found = RuleFindings([], [])
    for number, rule in enumerate(settings.scope):
        if isinstance(rule, FilterRule | NutchExempt):
            path = f"scope.{number}"
            try:
                filters = rule.filters(files.read_lines)
            except ConfigError as error:
                found.problems.extend(_placed(path, error))
            else:
                notes = (note for each in filters for note in each.notes)
                found.warnings.extend(note._replace(path=path) for note in notes)
    try:
        for chain in all_chains(settings, files):
            for note in (note for regex in chain.regexes for note in regex.notes):
                placed = note._replace(path="uri.normalize")
                if placed not in found.warnings:
                    found.warnings.append(placed)
    except ConfigError as error:
        found.problems.extend(_placed("uri.normalize", error))
    found.problems.extend(_bad_precedences(settings, files))
    try:
        mime_rates(settings, files)
    except ConfigError as error:
        found.problems.extend(error.problems)
    return found


def mime_rates(settings: JobSettings, files: RuleFiles) -> dict[str, NutchRates]:
    """Rates by media type of the file that Nutch's schedules name; empty without one.

    Raises:
        ConfigError: It cannot be read.
    """
    name = settings.recrawl.schedule.nutch.mime_file
    try:
        return dict(read_mime_rates("\n".join(files.read_lines(name)))) if name else {}
    except OSError as error:
        what = f"{name} cannot be read: {error.strerror or error}"
    except ValueError as error:
        what = f"{name}, {error}"
    raise ConfigError([Problem("recrawl.schedule.nutch.mime_file", what)])


def _bad_precedences(settings: JobSettings, files: RuleFiles) -> list[Problem]:
    """What is wrong with the file of precedences."""
    choice = settings.frontier.uri_precedence
    try:
        if choice.file:
            Preloaded(Canonicalizer(()), files.read_lines).load(choice.file)
    except ConfigError as error:
        return list(_placed("frontier.uri_precedence.file", error))
    return []


def all_chains(settings: JobSettings, files: RuleFiles) -> Iterator[NormalizerChain]:
    """The chains that a crawl uses: for seeds, for links, for redirects."""
    for scope in (NormalizeScope.INJECT, NormalizeScope.OUTLINK, NormalizeScope.FETCHER):
        yield NormalizerChain(
            settings.uri.normalize, scope, files.read_lines, loops=settings.uri.normalize_loops
        )


def _placed(path: str, error: ConfigError) -> Iterator[Problem]:
    return (problem._replace(path=path) for problem in error.problems)
