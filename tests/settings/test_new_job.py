import stat
from pathlib import Path
from typing import Any

import pytest

from nacre.config.secret import Secret
from nacre.errors import ConfigError, JobError
from nacre.machine.layout import Layout
from nacre.ops.new_job import CRAWL_DEFAULTS
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.load import load_job
from nacre.settings.new_job import (
    NewJob,
    create_job,
    examine_new,
    require_no_job,
    separate_logins,
    with_defaults,
)

SEED = "http://me:hush@a.test/x"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def made(root: Path, *seeds: str, **facts: Any) -> Layout:
    layout = Layout(root / "job")
    create_job(layout, NewJob(seeds or ("http://a.test/",), **facts))
    return layout


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_job_has_its_files(tmp_path: Path):
    layout = made(tmp_path, "http://a.test/", "# a comment", "http://b.test/")
    assert sorted(path.name for path in layout.root.iterdir()) == [
        ".crawl.schema.json", "crawl.yaml", "seeds.txt",
    ]  # fmt: skip
    assert (layout.root / "seeds.txt").read_text() == (
        "http://a.test/\n# a comment\nhttp://b.test/\n"
    )


def test_rules_stand_with_the_first_sentence_of_their_description(tmp_path: Path):
    text = made(tmp_path, scope=rules_for(ScopeKind.HOST, depth=2)).config.read_text()
    lines = [line for line in text.splitlines() if line.strip().startswith("- rule: ")]
    assert len(lines) > 2
    assert all("# " in line for line in lines)
    assert load_job(Layout(tmp_path / "job"), environ={}).settings.scope == rules_for(
        ScopeKind.HOST, depth=2
    )


def test_a_profile_stands_with_its_purpose(tmp_path: Path):
    text = made(tmp_path, profile="site").config.read_text()
    line = next(line for line in text.splitlines() if line.startswith("profile: "))
    assert line.startswith("profile: site")
    assert len(line.partition("# ")[2]) > 10


def test_settings_that_the_file_gives_are_not_repeated_as_comments(tmp_path: Path):
    text = made(tmp_path, values={"politeness": {"min_delay": 7}}).config.read_text()
    footer = text.partition("# Settings that are often changed")[2]
    assert "#  min_delay: " not in footer
    assert "# under `politeness` above:" in footer
    assert "#  max_delay: " in footer
    assert "#engine:" in footer


def test_comments_show_what_holds_without_them(tmp_path: Path):
    user = tmp_path / "config" / "nacre" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("engine: {parallel: 17}\n")
    footer = made(tmp_path).config.read_text().partition("# Settings that are often changed")[2]
    assert "#  parallel: 17 " in footer


def test_a_password_of_a_seed_goes_to_a_file_of_its_own(tmp_path: Path):
    layout = made(tmp_path, SEED, "http://me:hush@b.test/ # both")
    assert "hush" not in layout.config.read_text()
    assert "hush" not in (layout.root / "seeds.txt").read_text()
    [one, other] = load_job(layout, environ={}).settings.fetch.credentials
    assert (one.origin, one.username, one.password.text) == ("http://a.test", "me", "hush")
    assert other.origin == "http://b.test"
    for path in (layout.root / "logins").iterdir():
        assert (path.read_text(), mode(path)) == ("hush\n", 0o600)


def test_an_origin_has_one_login():
    found = separate_logins([SEED, "http://you:other@a.test/y"])
    assert list(found.lines) == ["http://a.test/x", "http://a.test/y"]
    assert [one["username"] for one in found.credentials] == ["you"]


def test_a_password_that_a_file_cannot_say_stands_in_the_settings(tmp_path: Path):
    found = separate_logins(["http://me:%20hush@a.test/"])
    assert [one["password"] for one in found.credentials] == [" hush"]
    layout = made(tmp_path, "http://me:%20hush@a.test/")
    assert mode(layout.config) == 0o600
    assert "crawl.yaml" in found.warnings()[0].message


def test_the_operator_is_told_where_a_password_went():
    [problem] = separate_logins([SEED]).warnings()
    assert "http://a.test" in problem.message
    assert "logins/a.test-1" in problem.message
    assert "hush" not in problem.message
    assert separate_logins(["http://a.test/"]).warnings() == []


def test_credentials_as_the_file_says_them():
    [one] = separate_logins([SEED]).written()
    assert one == {
        "origin": "http://a.test", "username": "me", "password": {"file": "logins/a.test-1"},
    }  # fmt: skip


def test_credentials_of_seeds_stand_behind_the_given_ones(tmp_path: Path):
    given = {"origin": "http://b.test", "username": "b", "password": Secret("x", {"env": "B"})}
    values = {"fetch": {"credentials": [given]}}
    loaded, problems = examine_new(Layout(tmp_path / "job"), NewJob([SEED], values=values), {})
    assert problems == []
    assert loaded is not None
    assert [one.origin for one in loaded.settings.fetch.credentials] == [
        "http://b.test", "http://a.test",
    ]  # fmt: skip


def test_what_is_examined_is_not_written(tmp_path: Path):
    layout = Layout(tmp_path / "job")
    loaded, problems = examine_new(layout, NewJob([SEED], profile="site"), {})
    assert problems == []
    assert loaded is not None
    assert not layout.root.exists()


def test_a_job_that_is_there_is_left_alone(tmp_path: Path):
    layout = made(tmp_path)
    before = layout.config.read_text()
    with pytest.raises(JobError, match="is a job already") as error:
        require_no_job(layout, "--out")
    assert "--out" in str(error.value)
    with pytest.raises(JobError):
        made(tmp_path, "http://b.test/")
    assert layout.config.read_text() == before
    require_no_job(Layout(tmp_path / "other"))


def test_wrong_settings_write_nothing(tmp_path: Path):
    with pytest.raises(ConfigError, match="limits"):
        made(tmp_path, values={"limits": {"time": "soon"}})
    assert not (tmp_path / "job").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "job").write_text("a file")
    with pytest.raises(JobError, match="cannot be written"):
        made(tmp_path)


@pytest.mark.parametrize(
    ("values", "profile", "user", "use"),
    [
        ({}, "", "", "auto"),
        ({"browser": {"pages": 2}}, "site", "", "auto"),
        ({"browser": {"use": "always"}}, "", "", "always"),
        ({"browser": {"use": "never"}}, "", "", "never"),
        ({}, "broad", "", "never"),
        ({}, "", "browser: {use: never}\n", "never"),
    ],
)
def test_a_default_of_a_command_gives_way_to_all_that_is_set(
    tmp_path: Path, values: dict[str, Any], profile: str, user: str, use: str
):
    (tmp_path / "config" / "nacre").mkdir(parents=True)
    (tmp_path / "config" / "nacre" / "config.yaml").write_text(user)
    layout = Layout(tmp_path / "job")
    scope = () if profile else rules_for(ScopeKind.HOST)
    new = NewJob(["http://a.test/"], scope, values, profile)
    create_job(layout, with_defaults(layout, new, CRAWL_DEFAULTS))
    settings = load_job(layout).settings
    assert settings.browser.use == use
    assert settings.browser.pages == values.get("browser", {}).get("pages", 0)


def test_the_environment_counts_before_a_default_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NACRE_BROWSER__USE", "never")
    new = NewJob(["http://a.test/"], rules_for(ScopeKind.HOST))
    assert with_defaults(Layout(tmp_path), new, CRAWL_DEFAULTS).values == {}
