"""Seeds of Browsertrix, and the scope that their options make.

A seed may have options of its own, which take the place of those of the crawl (`ScopedSeed` of
Browsertrix).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from nacre.errors import ConfigError
from nacre.scope.rules.stock import AnyRule, MatchesListRegex, rules_for
from nacre.scope.scope import Decision
from nacre_migrate.browsertrix.options import ALIASES, text_of
from nacre_migrate.draft import Draft
from nacre_migrate.report import Conversion, defaulted, mapped, missing, to_check

_SCOPES: Final = {
    **{name: name for name in ("page", "prefix", "host", "domain", "any")},
    "page-spa": "page",
    "custom": "page",  # the seeds, and what matches the expressions
}
"""Scope types, and the scope of Nacre."""
_PAGES: Final = ("page", "page-spa")
"""Scope types in which no link is followed."""
OF_SCOPE: Final = ("scopeType", "scopeIncludeRx", "scopeExcludeRx", "depth")
"""Options that make the scope, of the crawl or of a seed."""


class PageScope(NamedTuple):
    """The scope of a crawl or a seed, after all options.

    Attributes:
        kind: The scope type; "" if it is not known.
        include: Expressions; a URL that matches one of them is in scope too.
        exclude: Expressions; a URL that matches one of them is not.
        depth: Links to follow; None for no limit.
    """

    kind: str = "prefix"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: int | None = None


class PageSeed(NamedTuple):
    """A seed.

    Attributes:
        url: Its URL, as written.
        options: Its own options, by name without alias.
        path: Its place in the file, such as `seeds.0`.
    """

    url: str
    options: Mapping[str, Any]
    path: str


def read_seed(value: object, path: str) -> PageSeed | None:
    """Read a seed; None if it has no URL.

    Args:
        value: A URL, or a mapping with `url` and options.
        path: Its place in the file.
    """
    if isinstance(value, str):
        return PageSeed(_plain(value), {}, path) if value.strip() else None
    if not isinstance(value, Mapping) or not isinstance(value.get("url"), str):
        return None
    options = {ALIASES.get(name, name): v for name, v in value.items() if name != "url"}
    return PageSeed(_plain(value["url"]), options, path)


def _plain(url: str) -> str:
    """A URL without quotation marks around it, which Browsertrix removes too."""
    url = url.strip()
    quoted = len(url) > 1 and url[0] == url[-1] and url[0] in "\"'"
    return url[1:-1] if quoted else url


def scope_of(options: Mapping[str, Any]) -> PageScope:
    """Return the scope that options make; those of a seed are merged over those of the crawl."""
    include = _expressions(options.get("scopeIncludeRx"))
    kind = text_of(options.get("scopeType")) or ("custom" if include else "prefix")
    exclude = _expressions(options.get("scopeExcludeRx"))
    depth = None if kind in _PAGES else _depth(options.get("depth"))
    return PageScope(kind if kind in _SCOPES else "", include, exclude, depth)


def _depth(value: object) -> int | None:
    """A number of links; None for a negative one, which means no limit, and for no number."""
    try:
        depth = int(float(text_of(value)))
    except ValueError:
        return None
    return depth if depth >= 0 else None


def _expressions(value: object) -> tuple[str, ...]:
    """Expressions of an option: one, or a list. A comma is a part of an expression."""
    values = value if isinstance(value, list) else [value]
    return tuple(text for item in values if (text := text_of(item)))


def place_seeds(
    draft: Draft, seeds: Sequence[PageSeed], options: Mapping[str, Any]
) -> dict[str, Conversion]:
    """Write the seeds and the scope of the job.

    The scope is that of the seeds if it is the same for all of them; otherwise it is that of the
    crawl, and seeds have scopes of their own.

    Args:
        draft: Receives seeds and scope.
        seeds: The seeds.
        options: Options of the crawl, by name without alias.

    Returns:
        A conversion for each seed, by its path, and for each option of the scope, by its name.
    """
    scopes = [scope_of({**options, **seed.options}) for seed in seeds]
    is_common = bool(scopes) and len(set(scopes)) == 1
    of_job = scopes[0] if is_common else scope_of(options)
    conversions = _put_scope(draft, of_job, options)
    for seed, scope in zip(seeds, scopes, strict=True):
        line, conversion = _seed_line(seed, scope, of_job)
        draft.seeds.append(line)
        conversions[seed.path] = conversion
    return conversions


def _put_scope(draft: Draft, scope: PageScope, options: Mapping[str, Any]) -> dict[str, Conversion]:
    conversion = mapped("scope")
    if not scope.kind:
        conversion = to_check("not a scope type that is known; `prefix` is used", "scope")
    elif scope.kind == "page-spa":
        conversion = mapped("scope", "the behaviour `routes` visits hash routes of the page")
    try:
        rules = _rules(scope)
    except (ConfigError, ValidationError):
        note = "an expression is not valid in Python; add it to the scope in another form"
        rules, conversion = _rules(scope._replace(include=(), exclude=())), to_check(note, "scope")
    draft.put("scope", [_written(rule) for rule in rules])
    return {name: conversion for name in OF_SCOPE if name in options}


def _rules(scope: PageScope) -> list[AnyRule]:
    kind = _SCOPES.get(scope.kind, "prefix")
    rules = list(rules_for(kind, depth=scope.depth, exclude=scope.exclude))
    if scope.include:
        included = MatchesListRegex(
            decision=Decision.ACCEPT, regexes=scope.include, search=True, comment="include"
        )
        rules.insert(2, included)
    return rules


def _written(rule: AnyRule) -> dict[str, Any]:
    fields = rule.model_dump(mode="json", exclude_defaults=True)
    return {"rule": getattr(rule, "rule", ""), **fields}


def _seed_line(seed: PageSeed, scope: PageScope, of_job: PageScope) -> tuple[str, Conversion]:
    """The line of a seed with its own scope, and what became of its options."""
    line, conversion = seed.url, mapped("seeds")
    if scope != of_job:
        line = f"{seed.url} scope={_SCOPES.get(scope.kind, 'prefix')}"
        line += f" depth={scope.depth}" if scope.depth is not None else ""
        conversion = mapped("seeds", "with a scope of its own")
    if (scope.include, scope.exclude) != (of_job.include, of_job.exclude):
        note = "expressions of one seed are left out: expressions of the scope hold for all seeds"
        conversion = to_check(note, "scope")
    if seed.options.get("auth"):
        conversion = to_check("its password is not copied: write it into fetch.credentials")
    further = sorted(name for name in seed.options if name not in {*OF_SCOPE, "auth"})
    if further and not conversion.flag:
        conversion = to_check(f"only for the whole crawl: {', '.join(further)}", "seeds")
    return line, conversion


def option_of_seeds(name: str, value: object) -> Conversion | None:
    """The conversion of an option that only lists seeds; None for another option."""
    if name == "seeds":
        return mapped("seeds") if value else defaulted("empty")
    return missing("the file of seeds cannot be read") if name == "seedFile" else None
