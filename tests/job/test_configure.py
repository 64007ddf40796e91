from pathlib import Path

import pytest

from nacre.errors import ConfigError, JobError
from nacre.job.configure import NewJob, create_job, examine_new, load_job
from nacre.job.layout import Layout
from nacre.scope.options import ScopeKind, rules_for


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
    head, _, footer = layout.config.read_text().partition("# Often set.")
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


def test_an_existing_job_is_not_overwritten(tmp_path: Path):
    layout = made(tmp_path)
    with pytest.raises(JobError, match="is a job already"):
        made(tmp_path)
    with pytest.raises(JobError, match="is no job"):
        load_job(Layout(layout.root / "other"))


def test_a_new_job_is_examined_before_it_is_written(tmp_path: Path):
    new = NewJob(["http://a.test/"], values={"limits": {"time": "soon"}})
    loaded, problems = examine_new(Layout(tmp_path / "job"), new, {})
    assert [problem.path for problem in problems] == ["limits.time"]
    assert loaded is not None
    assert loaded.settings.seeds == ("http://a.test/",)
    assert not (tmp_path / "job").exists()
