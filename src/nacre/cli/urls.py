"""`filter` and `normalize`: rules tried on URLs of stdin."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nacre.cli.lines import Reply
    from nacre.scope.normalize.chain import NormalizerSettings
    from nacre.scope.nutch.filters import FilterKind
    from nacre.scope.nutch.ruling import Ruling

_PANEL = "Rules and settings"
_RULES = typer.Option("--rules", metavar="FILE", help="Rule file of Nutch.", show_default=False)


_NORMALIZERS = "basic, regex, host, querystring, clean-query, slash, protocol, ajax, pass"


def filter_urls(
    rules: Annotated[list[Path] | None, _RULES] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--type", metavar="TYPE", show_default=False,
            help="regex, automaton, domain, domain-denylist, prefix, suffix, validator or fast; "
            "once for all files or once for each. Else their names say it.",
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option("--job", metavar="DIR", help="Ask the scope of a job.", show_default=False),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Add the rule that decided, behind a tab.")
    ] = False,
) -> None:  # fmt: skip
    """Write `+url` or `-url` for each URL on stdin: kept or rejected."""
    from nacre.cli.lines import answer_stdin, text_of
    from nacre.errors import ConfigError

    if (job is None) == (not rules and not types):
        raise ConfigError("name either --rules FILE (or --type validator), or --job DIR")
    judge = _file_judge(rules or [], types or []) if job is None else _job_judge(job)

    def reply(line: bytes) -> bytes:
        keeps, place = judge(text_of(line))
        tail = f"\t{place}".encode() if why else b""
        return (b"+" if keeps else b"-") + line + tail

    answer_stdin(reply, b"-", echo=True)


Judge = Callable[[str], tuple[bool, str]]
"""Whether a URL is kept, and what decided."""


def _file_judge(rules: Sequence[Path], types: Sequence[str]) -> Judge:
    from nacre.job.admission.rulefiles import RuleFiles
    from nacre.scope.nutch.filters import FilterChain, RuleText, make_filter
    from nacre.scope.nutch.reading import reading

    files = RuleFiles(Path())
    filters = []
    for path, kind in _kinds(rules, types):
        source = reading(RuleText(file=str(path) if path else ""), files.read_lines)
        filters.append(make_filter(kind, source))
    chain = FilterChain(filters)

    def judge(url: str) -> tuple[bool, str]:
        ruling: Ruling = chain.judge(url)
        return ruling.passes, ruling.place

    return judge


def _kinds(rules: Sequence[Path], types: Sequence[str]) -> "list[tuple[Path | None, FilterKind]]":
    from nacre.errors import ConfigError
    from nacre.scope.nutch.filters import FilterKind, guess_kind

    known = [kind.value for kind in FilterKind]
    for name in types:
        if name not in known:
            raise ConfigError(f"--type {name}: none of {', '.join(known)}")
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


def _job_judge(directory: Path) -> Judge:
    from nacre.cli.look import opened
    from nacre.errors import URIError
    from nacre.job.admission.normalizing import normalizing
    from nacre.job.admission.rulefiles import RuleFiles
    from nacre.job.checks import scope_with_seeds
    from nacre.job.job import Job
    from nacre.job.seeding.seeds import Seed
    from nacre.scope.rule import Subject
    from nacre.uri.parse import parse

    layout, settings = opened(directory)
    files = RuleFiles(layout.root)
    seeds = list(Job(layout.root, settings).seeds())
    scope = scope_with_seeds(settings, seeds, files, layout.root)
    forms = normalizing(settings, files)
    known = {seed.url for seed in seeds if isinstance(seed, Seed)}

    def judge(text: str) -> tuple[bool, str]:
        try:
            url: str | None = parse(text, max_length=settings.uri.max_length)
        except URIError as error:
            return False, f"no URL: {error}"
        if forms is not None and url is not None:
            url = forms.link(url)
        if url is None:
            return False, "uri.normalize"
        is_seed = url in known
        verdict = scope.decide(Subject(url, path="" if is_seed else "L", is_seed=is_seed))
        return verdict.accepted, verdict.rule

    return judge


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
        str, typer.Option("--scope", metavar="SCOPE", help="What for: inject, outlink, fetcher ….")
    ] = "default",
) -> None:  # fmt: skip
    """Write the normal form of each URL on stdin; an empty line where there is none."""
    from nacre.cli.lines import answer_stdin

    answer_stdin(_normal_form(rules or [], normalizers, scope), b"", echo=False)


def _normal_form(rules: Sequence[Path], normalizers: str, scope: str) -> "Reply":
    from nacre.cli.lines import text_of
    from nacre.errors import ConfigError, URIError
    from nacre.job.admission.rulefiles import RuleFiles
    from nacre.scope.normalize.chain import NormalizerChain, NormalizeScope

    if scope not in list(NormalizeScope):
        raise ConfigError(f"--scope {scope}: none of {', '.join(NormalizeScope)}")
    settings = _chosen(rules, [name.strip() for name in normalizers.split(",") if name.strip()])
    chain = NormalizerChain(settings, NormalizeScope(scope), RuleFiles(Path()).read_lines)

    def reply(line: bytes) -> bytes:
        text = text_of(line)
        try:
            found = chain.normalize(text)
        except URIError:
            return b""
        return line if found == text else found.replace("\n", "%0A").encode("utf-8", "replace")

    return reply


_FILE_OF = (
    ("host", "host"),
    ("slash", "slash"),
    ("protocol", "protocol"),
    ("regex", "regex"),
    (".xml", "regex"),
)


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
    wanted = list(names) or list(files) or ["basic"]
    if unused := files.keys() - set(wanted):
        raise ConfigError(f"--normalizers does not name {', '.join(sorted(unused))}")
    read: TypeAdapter[NormalizerSettings] = TypeAdapter(AnyNormalizer)
    found: list[NormalizerSettings] = []
    for name in wanted:
        item = {"normalizer": name, **({"file": files[name]} if name in files else {})}
        try:
            found.append(read.validate_python(item))
        except ValidationError:
            raise ConfigError(f"--normalizers {name}: none of {_NORMALIZERS}") from None
    return found


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("filter", rich_help_panel=_PANEL)(filter_urls)
    app.command(rich_help_panel=_PANEL)(normalize)
