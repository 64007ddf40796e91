"""`filter` and `normalize`: try rules on URLs of stdin, one answer for each line, in order.

A line ends with LF or CRLF. Text is UTF-8; a line that is not UTF-8 is judged with replacement
characters and written back unchanged. A line over `MAX_LINE` bytes is not read into
memory.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from nacre.cli.options import layout_and_settings

MAX_LINE = 65_536
"""Bytes of the longest line that is judged."""

_CHUNK = 65_536

Reply = Callable[[bytes], bytes]
"""The answer to a line, without its end."""
_PANEL = "Rules and settings"
_RULES = typer.Option("--rules", metavar="FILE", help="Rule file of Nutch.", show_default=False)
_NORMALIZERS = "basic, regex, host, querystring, clean-query, slash, protocol, ajax, pass"
_FILE_OF = (
    ("host", "host"),
    ("slash", "slash"),
    ("protocol", "protocol"),
    ("regex", "regex"),
    (".xml", "regex"),
)


def answer_stdin(reply: Reply, refuse: bytes, *, echo: bool) -> None:
    """Answer every line of stdin on stdout; quiet when stdout is closed.

    Args:
        reply: Makes the answer to a line.
        refuse: The answer to one that is too long.
        echo: The line itself follows `refuse`.
    """
    source, out = sys.stdin.buffer, sys.stdout.buffer
    try:
        for piece in answers(source, reply, refuse, echo=echo):
            out.write(piece)
            out.flush()
    except BrokenPipeError:
        # What is left in the buffer must not be tried again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def answers(
    source: BufferedReader | BinaryIO, reply: Reply, refuse: bytes, *, echo: bool
) -> Iterator[bytes]:
    """The output, in pieces: all that can be said of what has come so far."""
    tail = b""
    too_long = False
    while chunk := _next(source):
        *lines, tail = (tail + chunk).split(b"\n")
        out: list[bytes] = []
        for line in lines:
            if too_long:
                out += (line if echo else b"", b"\n")
                too_long = False
            else:
                out += (_answer(line, reply, refuse, echo=echo), b"\n")
        if too_long or len(tail) > MAX_LINE:
            out.append(b"" if too_long else refuse)
            out.append(tail if echo else b"")
            tail, too_long = b"", True
        yield b"".join(out)
    if too_long:
        yield b"\n"
    elif tail:
        yield _answer(tail, reply, refuse, echo=echo) + b"\n"


def _next(source: BufferedReader | BinaryIO) -> bytes:
    read = source.read1 if isinstance(source, BufferedReader) else source.read
    return read(_CHUNK)


def _answer(line: bytes, reply: Reply, refuse: bytes, *, echo: bool) -> bytes:
    line = line.removesuffix(b"\r")
    if len(line) > MAX_LINE:
        return refuse + (line if echo else b"")
    return reply(line)


def text_of(line: bytes) -> str:
    """A line as text."""
    return line.decode("utf-8", "replace")


if TYPE_CHECKING:
    from nacre.scope.normalize.chain import NormalizerSettings
    from nacre.scope.nutch.filters import FilterKind


def filter_urls(
    rules: Annotated[list[Path] | None, _RULES] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", show_default=False,
            help="regex, automaton, domain, domain-denylist, prefix, suffix, validator or "
                 "fast; once for all files or once for each. Default: by the names of the "
                 "files.",
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option("--job", metavar="DIR", help="Use the scope of a job.", show_default=False),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Add the deciding rule after a tab.")
    ] = False,
) -> None:  # fmt: skip
    """Write `+url` or `-url` for each URL on stdin: kept or rejected."""
    from nacre.errors import ConfigError

    if (job is None) == (not rules and not types):
        raise ConfigError("name either --rules FILE (or --type validator), or --job DIR")
    if job is None:
        from nacre.ops.url_rules import filters_of_files

        judge = filters_of_files(_kinds(rules or [], types or []))
    else:
        from nacre.ops.url_rules import scope_of_job

        judge = scope_of_job(*layout_and_settings(job))

    def reply(line: bytes) -> bytes:
        verdict = judge(text_of(line))
        tail = f"\t{verdict.rule}".encode() if why else b""
        return (b"+" if verdict.accepted else b"-") + line + tail

    answer_stdin(reply, b"-", echo=True)


def _kinds(rules: Sequence[Path], types: Sequence[str]) -> "list[tuple[Path | None, FilterKind]]":
    from nacre.errors import ConfigError
    from nacre.scope.nutch.filters import FilterKind, guess_kind

    names = [kind.value for kind in FilterKind]
    for name in types:
        if name not in names:
            raise ConfigError(f"--type {name}: none of {', '.join(names)}")
    kinds = [FilterKind(name) for name in types]
    if not rules:
        if any(kind is not FilterKind.VALIDATOR for kind in kinds):
            raise ConfigError("only the validator needs no rules: name a file with --rules")
        return [(None, kind) for kind in kinds]
    if len(kinds) > 1 and len(kinds) != len(rules):
        raise ConfigError("--type goes once for all files, or once for each")
    if not kinds:
        kinds = [guess_kind(path.name) for path in rules]
    return list(zip(rules, kinds * len(rules) if len(kinds) == 1 else kinds, strict=True))


def normalize(
    rules: Annotated[list[Path] | None, _RULES] = None,
    normalizers: Annotated[
        str,
        typer.Option(
            "--normalizers", metavar="NAMES", show_default=False,
            help=f"{_NORMALIZERS}, with commas between them, in order. Else those that the files "
            "are for; without files, basic.",
        ),
    ] = "",
    scope: Annotated[
        str, typer.Option("--scope", metavar="SCOPE", help="Scope of the normalizers: inject, "
                                                           "outlink, fetcher ….")
    ] = "default",
) -> None:  # fmt: skip
    """Write the normal form of each URL on stdin; an empty line if there is none."""
    answer_stdin(_normal_form(rules or [], normalizers, scope), b"", echo=False)


def _normal_form(rules: Sequence[Path], normalizers: str, scope: str) -> "Reply":
    from nacre.errors import ConfigError, URIError
    from nacre.ops.url_rules import normalizers_of_files
    from nacre.scope.normalize.chain import NormalizeScope

    if scope not in list(NormalizeScope):
        raise ConfigError(f"--scope {scope}: none of {', '.join(NormalizeScope)}")
    settings = _chosen(rules, [name.strip() for name in normalizers.split(",") if name.strip()])
    normalize_url = normalizers_of_files(settings, NormalizeScope(scope))

    def reply(line: bytes) -> bytes:
        text = text_of(line)
        try:
            normal = normalize_url(text)
        except URIError:
            return b""
        return line if normal == text else normal.replace("\n", "%0A").encode("utf-8", "replace")

    return reply


def _chosen(rules: Sequence[Path], names: Sequence[str]) -> "list[NormalizerSettings]":
    """The normalizers by name, each with the file that is for it."""
    from pydantic import TypeAdapter, ValidationError

    from nacre.errors import ConfigError
    from nacre.scope.normalize.chain import AnyNormalizer

    files: dict[str, str] = {}
    for path in rules:
        kind = next((kind for word, kind in _FILE_OF if word in path.name.lower()), "")
        if not kind or kind in files:
            raise ConfigError(
                f"--rules {path}: its name does not say which normalizer it is for, or it is a "
                "second file for one; regex-normalize.xml, host-…, slash-… and protocol-… say it"
            )
        files[kind] = str(path)
    chosen = list(names) or list(files) or ["basic"]
    if unused := files.keys() - set(chosen):
        raise ConfigError(f"--normalizers does not name {', '.join(sorted(unused))}")
    read: TypeAdapter[NormalizerSettings] = TypeAdapter(AnyNormalizer)
    normalizers: list[NormalizerSettings] = []
    for name in chosen:
        item = {"normalizer": name, **({"file": files[name]} if name in files else {})}
        try:
            normalizers.append(read.validate_python(item))
        except ValidationError:
            raise ConfigError(f"--normalizers {name}: none of {_NORMALIZERS}") from None
    return normalizers


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("filter", rich_help_panel=_PANEL)(filter_urls)
    app.command(rich_help_panel=_PANEL)(normalize)
