"""The migration of a configuration of Browsertrix Crawler, from file to draft and report."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nacre.config.document import read_values
from nacre.config.layer import Layer
from nacre.errors import ConfigError, Problem
from nacre.machine.local_files import read_ordinary
from nacre.settings.settings import JobSettings
from nacre_migrate.browsertrix.options import ALIASES, map_option, text_of
from nacre_migrate.browsertrix.pages import (
    OF_SCOPE,
    PageSeed,
    option_of_seeds,
    place_seeds,
    read_seed,
)
from nacre_migrate.draft import Draft, advise_of_effects, require_seeds, settle
from nacre_migrate.files import read_lines
from nacre_migrate.report import (
    NOT_SHOWN,
    Conversion,
    MigrationReport,
    ReportedItem,
    defaulted,
    mapped,
    shown,
    to_check,
)

_LONGEST = 16_000_000
"""Bytes of a file."""
_NESTED = "config"
"""In files of the web application the options are below this key."""


def convert(file: Path, contact: str = "") -> tuple[Draft, MigrationReport]:
    """Make a job of a configuration of Browsertrix Crawler.

    Args:
        file: The YAML file of `--config`, or the JSON of a crawl of the web application.
        contact: The contact of the crawl; "" for that of the user agent, if it has one.

    Raises:
        ConfigError: It cannot be read; with file and line.
    """
    layer = _read(file)
    draft, report = Draft(), MigrationReport("browsertrix")
    draft.put("browser.use", "always", "Browsertrix runs each page in a browser")
    tree, above = layer.tree, ""
    if isinstance(tree.get(_NESTED), Mapping) and "seeds" not in tree:
        tree, above = tree[_NESTED], f"{_NESTED}."
    options = {ALIASES.get(name, name): value for name, value in tree.items()}
    conversions: dict[str, Conversion] = {}
    seeds = [*_seeds(options, above), *_of_file(options, file.parent, report, conversions)]
    conversions |= place_seeds(draft, seeds, options)
    for name, value in tree.items():
        option = ALIASES.get(name, name)
        if option not in conversions:
            conversions[option] = _conversion(draft, option, value, f"{file.name}: {name}")
    if contact:
        draft.put("fetch.contact", contact, "--contact")
    report.findings += _findings(layer, file.name, above, conversions)
    _finish(draft, report)
    return draft, report


def _read(file: Path) -> Layer:
    try:
        lines, _ = read_lines(read_ordinary(file, _LONGEST))
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", file=file.name)
        raise ConfigError([problem]) from None
    layer = read_values("\n".join(lines), file.name)
    if layer.problems:
        raise ConfigError(layer.problems)
    return layer


def _seeds(options: Mapping[str, Any], above: str) -> Iterator[PageSeed]:
    values = options.get("seeds") or []
    for number, value in enumerate(values if isinstance(values, list) else [values]):
        path = f"{above}seeds.{number}" if isinstance(values, list) else f"{above}seeds"
        seed = read_seed(value, path)
        if seed is not None:
            yield seed


def _of_file(
    options: Mapping[str, Any],
    directory: Path,
    report: MigrationReport,
    conversions: dict[str, Conversion],
) -> Iterator[PageSeed]:
    """Yield the seeds of a file that an option names."""
    name = text_of(options.get("seedFile"))
    if not name:
        return
    try:
        lines, _ = read_lines(read_ordinary(directory / name, _LONGEST))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}; put its lines into seeds.txt"
        report.add_file(name, reason, check=True)
        conversions["seedFile"] = to_check(reason, "seeds")
        return
    report.add_file(name, "read: its lines are in seeds.txt")
    conversions["seedFile"] = mapped("seeds")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield PageSeed(line.strip(), {}, f"seedFile:{number}")


def _conversion(draft: Draft, option: str, value: object, place: str) -> Conversion:
    if option in {"seeds", *OF_SCOPE}:
        return option_of_seeds(option, value) or defaulted("its default", "scope")
    return map_option(draft, option, value, place)


def _findings(
    layer: Layer, file: str, above: str, conversions: Mapping[str, Conversion]
) -> Iterator[ReportedItem]:
    """Yield a row for each option, and for each seed with options of its own."""
    tree = layer.tree[_NESTED] if above else layer.tree
    for name, value in layer.tree.items() if above else ():
        if name != _NESTED:
            yield _item(layer, file, name, value, defaulted("of the web application"))
    for name, value in tree.items():
        conversion = conversions[ALIASES.get(name, name)]
        yield _item(layer, file, f"{above}{name}", value, conversion)
        if ALIASES.get(name, name) == "seeds" and isinstance(value, list):
            for number, seed in enumerate(value):
                if isinstance(seed, Mapping):
                    path = f"{above}seeds.{number}"
                    yield _item(layer, file, path, seed, conversions.get(path, _NO_URL))


_NO_URL = to_check("a seed without `url` is left out")


def _item(
    layer: Layer, file: str, path: str, value: object, conversion: Conversion
) -> ReportedItem:
    text = text_of(value) if not isinstance(value, Mapping) else _pairs(value)
    line = next(
        (layer.places[p].line for p in (path, path.partition(".")[0]) if p in layer.places), 0
    )
    outcome, target, note, flag = conversion
    return ReportedItem(path, shown(path, text), file, line, outcome, target, note, flag)


def _pairs(value: Mapping[str, Any]) -> str:
    texts = {name: shown(str(name), text_of(item)) for name, item in value.items()}
    if value.get("auth"):
        texts["auth"] = NOT_SHOWN
    return ", ".join(f"{name}: {text}" for name, text in texts.items())


def _finish(draft: Draft, report: MigrationReport) -> None:
    order = {name: place for place, name in enumerate(JobSettings.model_fields)}
    draft.sort(lambda path: order[path.partition(".")[0]])
    settle(draft, report)
    advise_of_effects(draft, report)
    require_seeds(draft, report)
    if "fetch.contact" not in draft.settings:
        report.advise("Say who crawls: fetch.contact in crawl.yaml, a web page or a mail address.")
    if "robots.policy" not in draft.settings:
        report.advise(
            "robots.txt is obeyed, for each request of a page; Browsertrix ignores it unless told "
            "otherwise. `browser.robots: page` asks it for pages alone."
        )
    report.advise(
        "Nacre waits between two pages of a host (`politeness.delay`); Browsertrix does not."
    )
