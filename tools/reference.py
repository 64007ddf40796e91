"""Write docs/reference/*.md and the schema from settings, commands and the table of statuses.

`python -m tools.reference` writes them; `--check` only checks whether they are current (exit 1).
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import typer.main

from nacre.annotations import ANNOTATIONS
from nacre.cli.app import LATE, app
from nacre.config.component import Component
from nacre.config.facts import FieldFacts, fields
from nacre.core.states import EXIT_TABLE
from nacre.core.status import STATUS_TABLE
from nacre.crawldb.scoring import SCORINGS
from nacre.engine.chain.entry import PROCESSORS, Entry
from nacre.job.registry import sections
from nacre.scope.normalize.chain import AnyNormalizer
from nacre.scope.rules.expression_terms import ATTRIBUTES
from nacre.scope.rules.stock import RULES, Rule, stock_rules
from nacre.scope.subject import NEEDS
from nacre.search.filters import FILTERS
from nacre.search.writer_kinds import WRITERS
from nacre.settings.chains import STOCK
from nacre.settings.schema import SHIPPED, schema
from nacre.settings.settings import JobSettings
from nacre_migrate.heritrix.mappings import (
    CRAWL_CLASSES,
    FETCH_CLASSES,
    INSERTED,
    ClassMapping,
    PropertyMapping,
)
from nacre_simweb.commands import simweb

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_MADE = "<!-- Made by tools/reference.py; a test says whether it is current. -->"


def pages() -> dict[str, str]:
    """Return all pages by file name."""
    return {
        "settings.md": settings_page(),
        "commands.md": commands_page(),
        "statuses.md": statuses_page(),
        "annotations.md": annotations_page(),
        "expressions.md": expressions_page(),
        "heritrix.md": heritrix_page(),
    }


# ---- names of Heritrix


def heritrix_page() -> str:
    """Return every class and property of Heritrix 3 that `nacre migrate heritrix` knows."""
    inserted = {
        name: ClassMapping(
            f"chains.{insertion.chain}",
            f"`{insertion.processor}` is inserted",
            "",
            insertion.properties,
        )
        for name, insertion in INSERTED.items()
    }
    tables = {**FETCH_CLASSES, **CRAWL_CLASSES, **inserted}
    parts = [
        "# Heritrix's classes and properties",
        _MADE,
        "What `nacre migrate heritrix` makes of them. Rules of a scope: [settings](settings.md). "
        "How to: [Heritrix](../heritrix.md).",
        *(_heritrix_kind(name, tables[name]) for name in sorted(tables)),
    ]
    return "\n\n".join(parts) + "\n"


def _heritrix_kind(name: str, kind: ClassMapping) -> str:
    section = f"`{kind.section}`" if kind.section else kind.note
    text = f"**{name}**: {section}" + (f"; {kind.note}" if kind.section and kind.note else "")
    if not kind.properties:
        return text
    rows = [
        f"| `{heritrix_name}` | {_heritrix_rule(kind.properties[heritrix_name])} |"
        for heritrix_name in kind.properties
    ]
    return "\n".join([f"{text}\n", "| property | becomes |", "|---|---|", *rows])


def _heritrix_rule(rule: PropertyMapping) -> str:
    paths = ", ".join(f"`{path}`" for path in rule.paths.split())
    return "; ".join(part for part in (paths, rule.note) if part)


# ---- settings


def settings_page() -> str:
    """Return every setting of `crawl.yaml`, and every rule of a scope."""
    parts = [
        "# Settings",
        _MADE,
        "This page lists the settings of `crawl.yaml`. Sources of a value, strongest first: "
        "`--set path=value`, the environment (`NACRE_FRONTIER__MAX_RETRIES=3`), the file, its "
        "includes, the user's `~/.config/nacre/config.yaml`, the default. "
        "`nacre check DIR --explain PATH` shows the source. Sizes may be written as `500 MB`, "
        "times as `10m`.",
        *_sections(),
        "## scope: the rules",
        "`scope` is a list of rules in order; the last one that has an opinion decides. Each has "
        "`enabled` (true), `comment` and `name` beside its own settings. Heritrix's class names, "
        "in brackets, are known too, and with them its names of settings. How to use them: "
        "[scope](../scope.md). The default is Heritrix's stock list: "
        + ", ".join(f"`{rule.label}`" for rule in stock_rules())
        + ".",
        *(_rule(kind) for kind in RULES),
        "## chains: the processors",
        "[Chains](../chains.md) explains how to write a chain. Each entry has `enabled` (true), "
        "`gate` (no rules), `comment` and `name` in addition to its settings. Heritrix's class "
        "names, in brackets, are known too. The stock chains: " + "; ".join(_stock_chains()) + ".",
        *(_processor(kind) for kind in PROCESSORS),
        "## uri.normalize: the normalizers",
        "`uri.normalize` is a list of normalizers in order; a plain name is one without "
        "settings. See [Nutch](../nutch.md).",
        *(_normalizer(kind) for kind in get_args(get_args(AnyNormalizer)[0])),
        "## cycle.scoring: the scores",
        "`cycle.scoring` is a list of kinds of score in order; a plain name is one with its "
        "defaults.",
        *(_named(kind, "scoring") for kind in SCORINGS),
        "## cycle.index.writers: the writers",
        "`cycle.index.writers` is a list of writers; a plain name is one with its defaults. See "
        "[search](../search.md).",
        *(_named(kind, "writer") for kind in WRITERS),
        "## cycle.index.filters: the filters of documents",
        "`cycle.index.filters` is a list of filters in order. See [search](../search.md).",
        *(_named(kind, "filter") for kind in FILTERS),
    ]
    return "\n\n".join(parts) + "\n"


def _sections() -> Iterator[str]:
    plain = [field for field in fields(JobSettings) if "." not in field.path]
    yield "## The job\n\n" + _table(plain)
    for name, kind, heritrix in sections():
        names = f" Heritrix: {', '.join(heritrix)}." if heritrix else ""
        yield f"## {name}\n\n{_doc(kind)}{names}\n\n{_table(list(fields(kind, name + '.')))}"


def _table(rows: list[FieldFacts]) -> str:
    lines = ["| setting | default | unit | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{row.path}` | {_default(row.default)} | {row.unit} | {_cell(row.doc)} |"
        for row in rows
    ]
    return "\n".join(lines)


def _doc(kind: type[Component]) -> str:
    """Return the description of a component, without its sources, which are for developers."""
    return " ".join((kind.__doc__ or "").partition("Source:")[0].split())


_PLAIN = {"None": "none", "True": "`true`", "False": "`false`", "": "empty"}


def _default(value: object) -> str:
    if isinstance(value, tuple | frozenset):
        items = sorted(value) if isinstance(value, frozenset) else value
        if any(isinstance(item, Component) for item in items):
            return "see below"
        return "`[" + _cell(", ".join(str(item) for item in items)) + "]`"
    if str(value) == "PydanticUndefined":
        return "required"
    return _PLAIN.get(str(value)) or f"`{_cell(str(value))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_OF_ENTRIES = {"processor", "enabled", "gate", "comment", "name"}
_OF_ALL = {"rule", "enabled", "comment", "name"}


def _rule(kind: type[Rule]) -> str:
    own_fields = [field for field in fields(kind) if field.path not in _OF_ALL]
    name = kind.model_fields["rule"].default
    title = f"### {name} ({kind.heritrix})" if kind.heritrix else f"### {name}"
    return f"{title}\n\n{_doc(kind)}" + (f"\n\n{_table(own_fields)}" if own_fields else "")


def _stock_chains() -> Iterator[str]:
    for name, entries in STOCK.items():
        yield f"{name} " + ", ".join(f"`{entry.label}`" for entry in entries)


def _processor(kind: type[Entry]) -> str:
    own_fields = [field for field in fields(kind) if field.path not in _OF_ENTRIES]
    name = kind.model_fields["processor"].default
    title = f"### {name} ({kind.heritrix})" if kind.heritrix else f"### {name}"
    chains = " or ".join(sorted(kind.chains))
    behind = " or ".join(f"`{step}`" for step in kind.behind.split())
    where = f"Chain: {chains}." + (f" Usually after {behind}." if behind else "")
    return f"{title}\n\n{_doc(kind)} {where}" + (f"\n\n{_table(own_fields)}" if own_fields else "")


def _normalizer(kind: type[Component]) -> str:
    own_fields = [field for field in fields(kind) if field.path != "normalizer"]
    names = get_args(kind.model_fields["normalizer"].annotation)
    return f"### {', '.join(names)}\n\n{_doc(kind)}\n\n{_table(own_fields)}"


def _named(kind: type[Component], key: str) -> str:
    """Return a component that the field `key` names."""
    own_fields = [field for field in fields(kind) if field.path != key]
    name = kind.model_fields[key].default
    return f"### {name}\n\n{_doc(kind)}" + (f"\n\n{_table(own_fields)}" if own_fields else "")


def schema_text() -> str:
    """Return the JSON Schema of `crawl.yaml`."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


# ---- expressions


def expressions_page() -> str:
    """What an expression can ask of a URI."""
    lines = ["| attribute | kind | meaning | where it is known |", "|---|---|---|---|"]
    for name, attribute in ATTRIBUTES.items():
        needs = " and ".join(text for need, text in NEEDS.items() if need in attribute.needs)
        places = f"where {needs} is known" if needs else "everywhere"
        lines.append(f"| `{name}` | {attribute.kind} | {_cell(attribute.doc)} | {places} |")
    parts = [
        "# Expressions",
        _MADE,
        "What the rule `expression` can ask of a URI; how to write one: [scope](../scope.md).",
        "\n".join(lines),
    ]
    return "\n\n".join(parts) + "\n"


# ---- commands


def commands_page() -> str:
    """Return every command with its options."""
    group: Any = typer.main.get_command(app)
    parts = [
        "# Commands",
        _MADE,
        "Results go to stdout, as text or, with `--json`, as JSON. Progress goes to stderr: a live "
        "view on a terminal, elsewhere a line a minute and one for each change of state. With "
        "`--json` these lines, warnings and errors are JSON too. `NO_COLOR` is respected.",
        "Every command has `--help` (`-h`), and `nacre` itself `--version` (`-V`).",
        "## Exit codes",
        _exit_codes(),
    ]
    # The simulated web is a separate package, which may not be installed here.
    simulated: Any = typer.main.get_command(simweb)
    late = [(name, command.loaded()) for name, command in LATE.items()]
    for name, command in (*group.commands.items(), *late, ("simweb", simulated)):
        parts += command_section(f"nacre {name}", command)
    return "\n\n".join(parts) + "\n"


def _exit_codes() -> str:
    rows = [f"| {code} | {_cell(meaning)} |" for code, meaning in EXIT_TABLE.items()]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


def command_section(name: str, command: Any) -> Iterator[str]:
    """Yield a command with its options, and those below it."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    words = [name, *(_metavar(argument) for argument in arguments)]
    below = getattr(command, "commands", {})
    title = " ".join(words) + (" COMMAND" if below else "")
    yield f"{'##' if name.count(' ') == 1 else '###'} {title}"
    yield " ".join((command.help or "").split())
    options = [param for param in command.params if param.param_type_name == "option"]
    if options:
        lines = ["| option | meaning |", "|---|---|"]
        lines += [f"| {_option(option)} | {_cell(option.help or '')} |" for option in options]
        yield "\n".join(lines)
    for child, inner in below.items():
        yield from command_section(f"{' '.join(words)} {child}", inner)


def _metavar(argument: Any) -> str:
    text = (argument.metavar or argument.name.upper()).strip("[]{}")
    text += "..." if argument.nargs == -1 else ""
    return text if argument.required else f"[{text}]"


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    return names if option.is_flag else f"{names} {_cell(option.metavar or option.name.upper())}"


# ---- statuses


def statuses_page() -> str:
    """Return the crawler's own status codes."""
    lines = [
        "| code | name | meaning | tried again | counted as |",
        "|---|---|---|---|---|",
    ]
    for status, facts in STATUS_TABLE.items():
        again = "yes" if facts.retryable else ""
        lines.append(
            f"| {int(status)} | {facts.name} | {_cell(facts.meaning)} | {again} "
            f"| {facts.counted.value} |"
        )
    parts = [
        "# Status codes",
        _MADE,
        "The second column of crawl.log. Positive codes from 100 on are HTTP's; any HTTP reply "
        "counts as a success, because it was captured. 429 and 503 are tried again a few times "
        "first. The others are the crawler's own, with Heritrix's numbers:",
        "\n".join(lines),
    ]
    return "\n\n".join(parts) + "\n"


def annotations_page() -> str:
    """Return the annotations of crawl.log, in the order of their table."""
    lines = ["| annotation | meaning | Heritrix |", "|---|---|---|"]
    for annotation in ANNOTATIONS.values():
        same = "the same" if annotation.heritrix == annotation.token else _cell(annotation.heritrix)
        lines.append(f"| `{annotation.token}` | {_cell(annotation.meaning)} | {same} |")
    parts = [
        "# Annotations",
        _MADE,
        "The twelfth field of crawl.log, joined by commas; `-` for none. Capitals are placeholders "
        "for values: N for a number, NAME for a name. The last column says which of them "
        "Heritrix writes too. "
        "Plug-ins may add words of their own. src/nacre/annotations.py says who writes each.",
        "\n".join(lines),
    ]
    return "\n\n".join(parts) + "\n"


def files() -> dict[Path, str]:
    """Return all that is made here, by path."""
    return {FOLDER / name: text for name, text in pages().items()} | {SHIPPED: schema_text()}


def main() -> None:
    """Write or check the files."""
    stale = []
    for path, text in files().items():
        name = path.name
        if not path.is_file() or path.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv[1:]:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    print("current" if not stale else f"{'stale' if '--check' in sys.argv else 'written'}: {stale}")
    sys.exit(1 if stale and "--check" in sys.argv[1:] else 0)


if __name__ == "__main__":
    main()
