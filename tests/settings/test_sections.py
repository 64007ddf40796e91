"""The sections of a job's settings that readers of tables need."""

from pathlib import Path

import pytest

from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.load import load_job
from nacre.settings.new_job import NewJob, create_job
from nacre.settings.sections import OTHERS, TableSettings, load_tables
from nacre.settings.settings import JobSettings


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = Layout(tmp_path / "job")
    create_job(made, NewJob(["http://a.test/"], rules_for(ScopeKind.HOST, depth=1), {}))
    return made


def say(layout: Layout, text: str) -> None:
    layout.config.write_text(f"{layout.config.read_text()}\n{text}\n")


def test_all_other_sections_are_named():
    own = TableSettings.model_fields.keys()
    assert OTHERS | own == JobSettings.model_fields.keys()
    assert OTHERS.isdisjoint(own)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cycle: {storage: /tables, buckets: 16, memory: 300 MB}",
        "recrawl: {schedule: {nutch: {interval: 3d}}}\ncycle: {dedup: {near: true}}",
        "fetch: {contact: me@x.example}",
    ],
)
def test_they_are_those_of_the_whole_settings(layout: Layout, text: str):
    say(layout, text)
    found, whole = load_tables(layout, environ={}), load_job(layout, environ={})
    assert found.settings.cycle == whole.settings.cycle
    assert found.settings.recrawl == whole.settings.recrawl
    for path in ("cycle.buckets", "cycle.storage", "recrawl.schedule.nutch.interval"):
        assert found.is_given(path) == whole.is_given(path)
        assert found.origin(path) == whole.origin(path)


def test_every_layer_counts(layout: Layout, tmp_path: Path):
    say(layout, "cycle: {buckets: 16}\ninclude: more.yaml")
    (layout.root / "more.yaml").write_text("cycle: {memory: 400 MB}\n")
    user = tmp_path / "config" / "nacre" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("cycle: {storage: /of-the-user, buckets: 8}\n")
    environ = {"NACRE_CYCLE__KEEP_VERSIONS": "9"}
    cycle = load_tables(layout, ["cycle.buckets=32"], environ).settings.cycle
    assert (cycle.storage, cycle.memory) == ("/of-the-user", 400_000_000)
    assert (cycle.keep_versions, cycle.buckets) == (9, 32)


@pytest.mark.parametrize(
    "text",
    [
        "cycle: {buckets: many}",
        "recrawl: {schedule: {nutch: {interval: soon}}}",
        "cylce: {storage: /tables}",
        "cycle: [",
        "cycle: {buckets: many}\nfetch: {timeout: never}",
        "include: missing.yaml",
    ],
)
def test_what_is_wrong_is_told_as_by_the_whole_settings(layout: Layout, text: str):
    say(layout, text)
    with pytest.raises(ConfigError) as told:
        load_tables(layout, environ={})
    with pytest.raises(ConfigError) as whole:
        load_job(layout, environ={})
    assert str(told.value) == str(whole.value)


def test_what_is_wrong_elsewhere_does_not_matter(layout: Layout):
    say(layout, "fetch: {max_length: never}")
    with pytest.raises(ConfigError):
        load_job(layout, environ={})
    assert load_tables(layout, environ={}).settings.cycle.storage == ""


def test_a_directory_that_is_no_job(tmp_path: Path):
    with pytest.raises(JobError):
        load_tables(Layout(tmp_path / "nothing"), environ={})
