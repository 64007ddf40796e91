"""A walk over all settings: each free text declares what it names, or is known to name nothing.

A new setting that is a text fails here until its type says what it is.
"""

from collections.abc import Iterator
from typing import Literal, get_args, get_origin

import pytest

import nacre.rounds.steps.index
import nacre.settings.settings  # noqa: F401 - loads all components
from nacre.config.component import Component, NamedKind
from nacre.config.named_values import components, marked_fields, members, named_values
from nacre.settings.settings import JobSettings

PLAIN = frozenset(
    (
        "directory",  # of public keys: other servers read it, the crawler does not
        "accept", "accept_encoding", "addresses", "agent", "allow_by_regex", "at", "audience",
        "block_by_regex", "comment", "contact", "content_regexes", "copy_fields", "countries",
        "custom", "days", "default_scheme", "description", "device", "enforce", "expression",
        "extractors",
        "fields", "force", "format", "hours", "index", "kind", "local_name", "mail_from",
        "max_count_where", "mime_rates", "name", "operator", "origin", "pattern", "prefix",
        "prefixes", "publisher", "realm", "reduce_prefix_regex", "regex", "regexes", "remove",
        "rename", "replacement", "robots_agent", "rule", "rules", "schemes", "seeds", "separator",
        "sheets", "skip_types", "status", "strip_regex", "surts", "tags", "template", "time_zone",
        "unit", "uri_regex", "url", "user", "user_agent", "username", "warc_folder", "when",
        "where",
    )
)  # fmt: skip
"""NamedKind of settings that are texts, and name nothing of the machine.

`warc_folder` is written to documents only; `origin` is a site that is crawled.
"""
SENSITIVE = {
    ("ServerSettings", "ca"): NamedKind.FILE,
    ("NetworkSettings", "allow"): NamedKind.NETWORK,
    ("NetworkSettings", "proxy_resolves"): NamedKind.NETWORK,
    ("DnsSettings", "hosts"): NamedKind.NETWORK,
    ("DnsSettings", "servers"): NamedKind.SERVER,
    ("FetchSettings", "proxy"): NamedKind.SERVER,
    ("SolrSettings", "url"): NamedKind.SERVER,
    ("OpenSearchSettings", "urls"): NamedKind.SERVER,
    ("WebhookSettings", "url"): NamedKind.SERVER,
    ("WarcSettings", "outbackcdx"): NamedKind.SERVER,
    ("MetricsSettings", "listen"): NamedKind.LISTENER,
    ("MetricsSettings", "public"): NamedKind.LISTENER,
    ("CycleSettings", "scratch"): NamedKind.FILE,
    ("GeoLocation", "database"): NamedKind.FILE,
    ("JobSettings", "seeds"): NamedKind.FILE,
    ("BrowserSettings", "command"): NamedKind.PROGRAM,
    ("BrowserSettings", "isolation"): NamedKind.NETWORK,
    ("BrowserSettings", "scripts"): NamedKind.FILE,
    ("BrowserSettings", "block"): NamedKind.FILE,
}


def own_components() -> list[type[Component]]:
    found = dict.fromkeys(components())
    return [one for one in found if one.__module__.startswith("nacre.")]


def is_free(kind: object) -> bool:
    """Whether a type has a place for a text of any kind."""
    return any(
        member is str
        or (get_origin(member) is not Literal and any(is_free(one) for one in get_args(member)))
        for member in members(kind)
    )


def free_texts(model: type[Component]) -> Iterator[str]:
    for name, info in model.model_fields.items():
        if get_origin(info.annotation) is not Literal and is_free(info.annotation):
            yield name


@pytest.mark.parametrize("model", own_components(), ids=lambda model: model.__name__)
def test_each_text_declares_what_it_names(model: type[Component]):
    undeclared = set(free_texts(model)) - set(marked_fields(model)) - PLAIN
    assert not undeclared, (
        f"{model.__name__}: declare in the type what these name (nacre.config.component), or add "
        f"them to PLAIN: {sorted(undeclared)}"
    )


def test_what_must_not_be_open_is_declared():
    known = {model.__name__: marked_fields(model) for model in own_components()}
    assert {key: known[key[0]].get(key[1]) for key in SENSITIVE} == SENSITIVE


@pytest.mark.parametrize(
    "name", sorted({name for m in own_components() for name in marked_fields(m)})
)
def test_the_name_of_such_a_setting_counts_at_any_place_that_is_not_known(name: str):
    tree = {"nowhere": [{"inner": {name: "x"}}]}
    assert [one.path for one in named_values(JobSettings, tree)] == [f"nowhere.0.inner.{name}"]


def test_what_is_emptied_counts():
    tree = {"cookies": {"load_file": ""}, "network": {"allow": []}}
    assert [one.path for one in named_values(JobSettings, tree)] == [
        "cookies.load_file", "network.allow",
    ]  # fmt: skip
