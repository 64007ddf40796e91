"""

Passwords of a seed list: none is left in the list of the job, whatever its line is.
"""

from pathlib import Path

import pytest

from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.load import examine_job, examine_text, load_job
from nacre.settings.new_job import NewJob, create_job, examine_new, separate_logins


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def made(root: Path, **values: object) -> Layout:
    layout = Layout(root / "job")
    create_job(layout, NewJob(["http://a.test/"], rules_for(ScopeKind.HOST, depth=1), values))
    return layout


def test_what_is_written_is_what_is_read(tmp_path: Path):
    layout = made(tmp_path, politeness={"delay": 2})
    settings = load_job(layout, environ={}).settings
    assert settings.scope == rules_for(ScopeKind.HOST, depth=1)
    assert settings.politeness.delay == 2
    assert settings.name == "job"
    assert layout.config.read_text().count("seeds: seeds.txt") == 1


def test_all_often_set_settings_can_be_uncommented(tmp_path: Path):
    layout = made(tmp_path)
    head, _, footer = layout.config.read_text().partition("# Settings that are often changed")
    lines = footer.splitlines()[1:]
    layout.config.write_text(head + "\n".join(line.removeprefix("#") for line in lines))
    changed = load_job(layout, environ={}).settings
    layout.config.write_text(head)
    assert changed == load_job(layout, environ={}).settings


def test_layers_in_order(tmp_path: Path):
    layout = made(tmp_path, engine={"parallel": 2}, limits={"documents": 1})
    user = tmp_path / "config" / "nacre" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("engine: {parallel: 1}\nfetch: {contact: me@x.example}\n")
    environ = {"NACRE_LIMITS__DOCUMENTS": "3", "NACRE_LIMITS__TIME": "4", "NACRE_CASES": "x"}
    loaded = load_job(layout, ["limits.time=5"], environ)
    limits = loaded.settings.limits
    assert (loaded.settings.engine.parallel, limits.documents, limits.time) == (2, 3, 5)
    assert loaded.settings.fetch.contact == "me@x.example"
    assert loaded.origin("limits.time").source == "--set"
    assert loaded.origin("fetch.contact").file == str(user)


def test_includes_are_weaker_than_what_includes_them(tmp_path: Path):
    layout = made(tmp_path)
    (layout.root / "site.yaml").write_text("engine: {parallel: 9}\nlimits: {documents: 9}\n")
    layout.config.write_text("include: [site.yaml]\nengine: {parallel: 3}\n")
    settings = load_job(layout, environ={}).settings
    assert (settings.engine.parallel, settings.limits.documents) == (3, 9)


def test_a_file_that_includes_itself(tmp_path: Path):
    layout = made(tmp_path)
    layout.config.write_text("include: [crawl.yaml]\n")
    with pytest.raises(
        ConfigError,
        match=r"crawl\.yaml:1: include: a circle of includes: crawl\.yaml -> crawl\.yaml",
    ):
        load_job(layout, environ={})


@pytest.mark.parametrize("state", ["state/store", "cycle"])
@pytest.mark.parametrize("text", ["", "\ufeff", "\n  \n", "# filters: all of them\n\n"])
def test_an_empty_file_is_refused_once_the_job_was_crawled(tmp_path: Path, state: str, text: str):
    layout = made(tmp_path)
    layout.config.write_text(text)
    assert load_job(layout, environ={}).settings.scope
    (layout.root / state).mkdir(parents=True)
    with pytest.raises(
        ConfigError, match=r"crawl\.yaml: it is empty, .* from a copy, or write `\{\}`"
    ):
        load_job(layout, ["limits.documents=9"], environ={})
    assert [one.file for one in examine_text(layout, text, {})[1]] == ["crawl.yaml"]
    layout.config.write_text("{}\n")
    assert load_job(layout, environ={}).settings.scope
    layout.config.write_text("[\n")
    with pytest.raises(ConfigError) as caught:
        load_job(layout, environ={})
    assert "it is empty" not in str(caught.value)


def test_an_existing_job_is_not_overwritten(tmp_path: Path):
    layout = made(tmp_path)
    with pytest.raises(JobError, match="is a job already"):
        made(tmp_path)
    with pytest.raises(JobError, match="is not a job"):
        load_job(Layout(layout.root / "other"))


def test_a_new_job_is_examined_before_it_is_written(tmp_path: Path):
    new = NewJob(["http://a.test/"], values={"limits": {"time": "soon"}})
    loaded, problems = examine_new(Layout(tmp_path / "job"), new, {})
    assert [problem.path for problem in problems] == ["limits.time"]
    assert loaded is not None
    assert loaded.settings.seeds == ("http://a.test/",)
    assert not (tmp_path / "job").exists()


def test_includes_by_pattern_and_from_the_directory_of_the_includer(tmp_path: Path):
    layout = made(tmp_path)
    rules = layout.root / "rules"
    rules.mkdir()
    (rules / "10.yaml").write_text("include: 15.txt\nengine: {parallel: 1}\n")
    (rules / "15.txt").write_text("engine: {parallel: 5}\nlimits: {documents: 5}\n")
    (rules / "20.yaml").write_text("engine: {parallel: 2}\n")
    layout.config.write_text("include: ['rules/*.yaml', 'none/*.yaml']\n")
    loaded = load_job(layout, environ={})
    assert (loaded.settings.engine.parallel, loaded.settings.limits.documents) == (2, 5)
    assert str(loaded.origin("limits.documents")) == "file rules/15.txt:2"


def test_what_cannot_be_included_is_named_where_it_is_asked_for(tmp_path: Path):
    layout = made(tmp_path)
    (layout.root / "a.yaml").write_text("include: [b.yaml]\n")
    (layout.root / "b.yaml").write_text("# nothing\n\ninclude:\n  - a.yaml\n")
    layout.config.write_text("name: x\ninclude:\n  - a.yaml\n  - missing.yaml\n")
    _, problems = examine_job(layout, environ={})
    assert [(p.file, p.line, p.message) for p in problems] == [
        ("b.yaml", 4, "a circle of includes: a.yaml -> b.yaml -> a.yaml"),
        ("crawl.yaml", 4, "missing.yaml does not exist"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "http://me:hush@a.example/x",
        "http://me:hush@bad host/",
        "me:hush@bad host/",
        "# http://me:hush@a.example/old",
        "http://图书馆:hush@新 闻.example/",
        "ftp://me:hush@a.example/",
        "htp:/me:hush@a.example/",
    ],
)
def test_no_password_stays_in_the_list(line: str) -> None:
    assert "hush" not in str(separate_logins([line]).lines)


@pytest.mark.parametrize(
    "line",
    ["http://a.example/@me", "# mail me@x.example", "+http://(example,a,)/@x", "mail me@x y", ""],
)
def test_lines_without_a_password_stay_as_they_are(line: str) -> None:
    assert separate_logins([line]).lines == [line]
