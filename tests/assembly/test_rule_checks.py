"""What keeps rules, gates, normalizers and files from working, found before a run."""

from pathlib import Path
from typing import Any

import pytest

from nacre.assembly.rule_checks import (
    chain_problems,
    examine_rule_files,
    mime_rates,
    scope_doubts,
    scope_problems,
)
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.errors import ConfigError
from nacre.settings.settings import JobSettings

PREFIXES = {"rule": "surt-prefixed", "files": ["list.txt"], "decision": "ACCEPT"}
ADDRESS = {"rule": "ip-address-set", "addresses": ["192.0.2.0/24"], "decision": "ACCEPT"}
COUNTRY = {"rule": "geo-location", "countries": ["IS"], "database": "is.mmdb"}
FILTERS = {"rule": "nutch-regex", "file": "filters.txt"}
TAGGED = {"rule": "source-seed", "seeds": ["http://a.test/"], "decision": "ACCEPT"}


def settings(**sections: Any) -> JobSettings:
    return JobSettings.model_validate(sections)


def placed(problems: Any) -> list[tuple[str, str]]:
    """Path and message of each problem."""
    return [(problem.path, problem.message) for problem in problems]


def in_scope(root: Path, made: JobSettings) -> list[tuple[str, str]]:
    return placed(scope_problems(made, root, RuleFiles(root)))


@pytest.mark.parametrize("lines", ["http://(test,a,)/\n", "# none\n"])
def test_rules_that_work_have_no_problems(tmp_path: Path, lines: str):
    (tmp_path / "list.txt").write_text(lines)
    made = settings(scope=[PREFIXES], fetch={"midfetch": [PREFIXES]})
    assert in_scope(tmp_path, made) == []
    assert in_scope(tmp_path, settings()) == []
    assert [*chain_problems(settings(), RuleFiles(tmp_path))] == []
    assert [*scope_doubts(settings())] == []
    assert examine_rule_files(settings(), RuleFiles(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("sections", "path"),
    [
        ({"scope": ["reject", PREFIXES]}, "scope.1"),
        ({"scope": [{"rule": "sequence", "rules": [PREFIXES]}]}, "scope.0"),
        ({"fetch": {"midfetch": [PREFIXES]}}, "fetch.midfetch.0"),
        ({"chains": {"fetch": {"extract": {"gate": [PREFIXES]}}}}, "chains.fetch.extract.gate.0"),
        ({"sheets": {"slow": {"politeness": {"delay": 9}}},
          "sheet_associations": [{"rules": [PREFIXES], "sheets": ["slow"]}]},
         "sheet_associations.0.rules.0"),
    ],
)  # fmt: skip
def test_a_file_of_prefixes_is_looked_at_wherever_a_rule_names_it(
    tmp_path: Path, sections: dict[str, Any], path: str
):
    made = settings(**sections)
    ((where, message),) = in_scope(tmp_path, made)
    assert (where, message) == (path, "list.txt cannot be read: No such file or directory")
    (tmp_path / "list.txt").write_bytes(b"\0")
    ((where, message),) = in_scope(tmp_path, made)
    assert (where, message[:24]) == (path, "list.txt cannot be read:")
    (tmp_path / "list.txt").write_text("http://(test,a,)/\n")
    assert in_scope(tmp_path, made) == []


def test_a_rule_that_needs_the_address_stands_where_it_is_asked_again(tmp_path: Path):
    ((path, message),) = in_scope(tmp_path, settings(scope=["accept", ADDRESS]))
    assert path == "scope.1"
    assert message.endswith("`chains.fetch.recheck-scope.enabled: true` asks the scope again, "
                            "with the address")  # fmt: skip
    rechecked = {"fetch": {"recheck-scope": {"enabled": True}}}
    assert in_scope(tmp_path, settings(scope=["accept", ADDRESS], chains=rechecked)) == []
    # Where nothing asks again, that remedy is none.
    gate = {"candidate": {"scope": {"gate": [ADDRESS]}}}
    found = in_scope(tmp_path, settings(chains=gate))
    assert found
    assert not any("recheck-scope.enabled" in message for _, message in found)


def test_a_country_database_must_be_there(tmp_path: Path):
    rechecked = {"fetch": {"recheck-scope": {"enabled": True}}}
    ((path, message),) = in_scope(tmp_path, settings(scope=[COUNTRY], chains=rechecked))
    assert path == "scope.0"
    assert "is.mmdb" in message
    assert "GeoLite2-Country.mmdb" in message


@pytest.mark.parametrize(("tags", "problems"), [(True, 0), (False, 1)])
def test_a_rule_of_source_tags_needs_tags(tmp_path: Path, tags: bool, problems: int):
    made = settings(scope=[TAGGED], engine={"source_tags": tags})
    found = [*scope_problems(made, tmp_path, RuleFiles(tmp_path))]
    assert len(found) == problems
    assert all(one.sample == "engine: {source_tags: true}" for one in found)


@pytest.mark.parametrize(
    ("rule", "doubts"),
    [
        (ADDRESS, 1),
        (ADDRESS | {"decision": "REJECT"}, 0),
        ({"rule": "sequence", "rules": [ADDRESS]}, 1),
        (PREFIXES, 0),
    ],
)
def test_a_rule_that_can_let_nothing_in_is_doubted(rule: dict[str, Any], doubts: int):
    found = placed(scope_doubts(settings(scope=["reject", rule])))
    assert len(found) == doubts
    for path, message in found:
        assert path == "scope.1"
        assert "accepts no new ones" in message


# ---- files of rules


def test_filters_of_nutch_are_read_with_what_is_to_be_known_of_them(tmp_path: Path):
    made = settings(scope=["accept", FILTERS])
    (problem,) = examine_rule_files(made, RuleFiles(tmp_path)).problems
    assert (problem.path, problem.file) == ("scope.1", "filters.txt")
    (tmp_path / "filters.txt").write_text("-[\n")
    assert examine_rule_files(made, RuleFiles(tmp_path)).problems
    (tmp_path / "filters.txt").write_text("+.\n")
    assert examine_rule_files(made, RuleFiles(tmp_path)) == ([], [])
    (tmp_path / "filters.txt").write_text("-.*(/[^/]+)/[^/]+\\1/[^/]+\\1/\n+.\n")
    problems, warnings = examine_rule_files(made, RuleFiles(tmp_path))
    assert problems == []
    assert [(note.path, note.file, note.line) for note in warnings] == [
        ("scope.1", "filters.txt", 1)
    ]


def test_a_file_of_precedences_is_read(tmp_path: Path):
    policy = {"policy": "preloaded", "file": "order.txt"}
    made = settings(frontier={"uri_precedence": policy})
    (problem,) = examine_rule_files(made, RuleFiles(tmp_path)).problems
    assert problem.path == "frontier.uri_precedence.file"
    (tmp_path / "order.txt").write_text("http://a.test/ 3\n")
    assert examine_rule_files(made, RuleFiles(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "rates.txt cannot be read: No such file or directory"),
        ("text/html\tx\ty\n", "rates.txt, "),
    ],
)
def test_rates_by_media_type(tmp_path: Path, content: str | None, message: str):
    made = settings(recrawl={"schedule": {"nutch": {"mime_file": "rates.txt"}}})
    if content is not None:
        (tmp_path / "rates.txt").write_text(content)
    with pytest.raises(ConfigError) as raised:
        mime_rates(made, RuleFiles(tmp_path))
    (problem,) = raised.value.problems
    assert problem.path == "recrawl.schedule.nutch.mime_file"
    assert problem.message.startswith(message)
    assert examine_rule_files(made, RuleFiles(tmp_path)).problems == [problem]
    (tmp_path / "rates.txt").write_text("text/html\t0.5\t0.1\n")
    assert [*mime_rates(made, RuleFiles(tmp_path))] == ["text/html"]
    assert mime_rates(settings(), RuleFiles(tmp_path)) == {}


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        (None, ["map.txt cannot be read: No such file or directory"]),
        ("m one\nz one two\n", ["map.txt: line 2: 'z one two' is not `KEY NAME`"]),
        ("m two\n", ["map.txt gives nothing to `local_name`, 'one'"]),
        ("m one\n", []),
    ],
)
def test_processors_say_what_keeps_them_from_working(
    tmp_path: Path, content: str | None, messages: list[str]
):
    if content is not None:
        (tmp_path / "map.txt").write_text(content)
    for enabled in (True, False):
        entry = {
            "processor": "lexical-crawl-mapper", "map_file": "map.txt", "local_name": "one",
            "enabled": enabled,
        }  # fmt: skip
        made = settings(chains={"fetch": {"insert": [entry]}})
        found = placed(chain_problems(made, RuleFiles(tmp_path)))
        path = "chains.fetch.lexical-crawl-mapper"
        assert found == [(path, message) for message in messages if enabled]
