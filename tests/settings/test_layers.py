"""

Profiles are complete, commented, valid, and between the file and the defaults.
"""

from pathlib import Path

import pytest

from nacre.config.document import read_yaml
from nacre.errors import ConfigError
from nacre.machine.layout import Layout
from nacre.scope.compile import compile_scope
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.settings.layers import inner_layers, list_profiles
from nacre.settings.load import load_job
from nacre.settings.new_job import NewJob, create_job, examine_new


def test_a_configuration_of_the_user_that_cannot_be_had_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config = tmp_path / "nacre" / "config.yaml"
    assert inner_layers([], tmp_path) == []
    config.parent.mkdir()
    config.symlink_to(config)
    (layer,) = inner_layers([], tmp_path)
    assert [str(problem) for problem in layer.problems] == [
        f"{config}: cannot be read: Too many levels of symbolic links"
    ]


NAMES = ["broad", "domain", "gov-site", "incremental", "one-page", "site"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def on(root: Path, profile: str, **values: object) -> Layout:
    layout = Layout(root / "job")
    create_job(layout, NewJob(["http://www.a.test/x/"], values=values, profile=profile))
    return layout


def accepts(layout: Layout, url: str, path: str = "L") -> bool:
    state = ScopeState()
    scope = compile_scope(load_job(layout, environ={}).settings.scope, state)
    state.add_seed("http://www.a.test/x/")
    return scope.decide(Subject(url, path, "http://www.a.test/x/")).accepted


def test_all_of_them_are_there_and_say_what_they_are_for():
    assert [profile.name for profile in list_profiles()] == NAMES
    assert all(profile.purpose.endswith(".") for profile in list_profiles())


@pytest.mark.parametrize("name", NAMES)
def test_each_is_valid_and_its_values_know_where_they_come_from(tmp_path: Path, name: str):
    layout = on(tmp_path, name)
    loaded = load_job(layout, environ={})
    assert str(loaded.origin("scope")).startswith(f"profile {name} ")
    assert f"profile: {name}  " in layout.config.read_text()
    assert "\nscope:" not in layout.config.read_text()
    text = next(one.path for one in list_profiles() if one.name == name).read_text()
    layer = read_yaml(text, name)
    changed = [path for path in layer.places if "." in path and not path.startswith("scope")]
    assert changed


@pytest.mark.parametrize(
    ("name", "in_", "out"),
    [
        ("one-page", [], ["http://www.a.test/x/y", "http://a.test/"]),
        ("site", ["http://www.a.test/y"], ["http://shop.a.test/", "http://b.test/"]),
        ("domain", ["http://shop.a.test/"], ["http://b.test/"]),
        ("broad", ["http://shop.a.test/"], ["http://b.test/"]),
        ("incremental", ["http://www.a.test/y"], ["http://shop.a.test/"]),
        ("gov-site", ["http://shop.a.test/"], ["http://b.test/"]),
    ],
)
def test_what_each_lets_in(tmp_path: Path, name: str, in_: list[str], out: list[str]):
    layout = on(tmp_path, name)
    assert all(accepts(layout, url) for url in in_)
    assert not any(accepts(layout, url) for url in out)
    assert accepts(layout, "http://cdn.test/logo.png", "E")


def test_a_file_is_stronger_than_its_profile_and_that_than_the_user(tmp_path: Path):
    user = tmp_path / "config" / "nacre" / "config.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("politeness: {min_delay: 7, max_delay: 99, delay_factor: 3}\n")
    layout = on(tmp_path, "gov-site", politeness={"max_delay": 50})
    wait = load_job(layout, environ={}).settings.politeness
    assert (wait.min_delay, wait.max_delay, wait.delay_factor) == (5, 50, 10)


def test_the_users_own_profiles_come_first_and_a_file_will_do(tmp_path: Path):
    folder = tmp_path / "config" / "nacre" / "profiles"
    folder.mkdir(parents=True)
    (folder / "site.yaml").write_text("# Ours.\nengine: {parallel: 3}\n")
    assert load_job(on(tmp_path, "site"), environ={}).settings.engine.parallel == 3
    layout = Layout(tmp_path / "job")
    (layout.root / "mine.yaml").write_text("engine: {parallel: 4}\n")
    layout.config.write_text("profile: mine.yaml\n")
    assert load_job(layout, environ={}).settings.engine.parallel == 4


def test_a_profile_that_does_not_exist(tmp_path: Path):
    layout = on(tmp_path, "site")
    layout.config.write_text("name: a\nprofile: stie\n")
    with pytest.raises(ConfigError, match=r"crawl\.yaml:2: profile: no such profile: stie; did"):
        load_job(layout, environ={})
    _, problems = examine_new(Layout(tmp_path / "other"), NewJob(["http://a.test/"], profile="x"))
    assert "one of: broad, domain" in problems[0].message


def test_a_profile_stands_on_no_other(tmp_path: Path):
    layout = on(tmp_path, "site")
    (layout.root / "mine.yaml").write_text("profile: site\n")
    layout.config.write_text("profile: mine.yaml\n")
    with pytest.raises(
        ConfigError, match=r"mine\.yaml:1: profile: a profile cannot be based on another one"
    ):
        load_job(layout, environ={})


def test_a_file_of_settings_that_is_very_large_is_refused_with_a_way_out(tmp_path: Path):
    layout = Layout(tmp_path)
    layout.config.write_text("name: x\n" + "# more\n" * 300_000)
    with pytest.raises(ConfigError, match="larger than 2,000,000 bytes; put seeds and rules into"):
        load_job(layout)
