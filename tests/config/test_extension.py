"""Extensions: entry points are read once; errors of broken and missing packages are clear."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from nacre.cli.plugin_commands import plugin_commands
from nacre.config import registry
from nacre.config.extension import (
    MIGRATE,
    Extension,
    find_extension,
    load_part,
    require_extension,
)
from nacre.config.extras import MissingExtraError
from nacre.editing.places import heritrix_properties
from nacre.errors import NacreError
from nacre_migrate import component
from tests.cli.site import nacre

WHOLE = EntryPoint(MIGRATE, "nacre_migrate.component:MIGRATE", registry.COMPONENTS)
OTHER = Extension(contract=registry.CONTRACT, commands={})
NEWER = Extension(contract=registry.CONTRACT + 1, commands={})
OF_PLUGIN = EntryPoint(MIGRATE, "nacre.scope.rules.stock:RULES", registry.COMPONENTS)


class Installed:
    """The entry points that this environment seems to have, and how often they were read."""

    def __init__(self) -> None:
        self.entries: list[EntryPoint] = []
        self.reads = 0

    def read(self, group: str) -> list[EntryPoint]:
        self.reads += 1
        return self.entries


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    state = Installed()
    monkeypatch.setattr(registry, "entry_points", state.read)
    caches = (find_extension, heritrix_properties, plugin_commands)
    for cached in caches:
        cached.cache_clear()
    yield state
    for cached in caches:
        cached.cache_clear()


def test_entry_points_are_read_once(installed: Installed):
    installed.entries = [OF_PLUGIN, WHOLE]
    assert find_extension(MIGRATE) is component.MIGRATE
    assert require_extension(MIGRATE, "it needs") is component.MIGRATE
    assert installed.reads == 1


def test_registries_of_rules_pass_it_over(installed: Installed):
    installed.entries = [WHOLE]
    rules = registry.Registry[type]("rule", lambda _: False)
    with pytest.raises(ValueError, match="there is no rule 'none'") as caught:
        rules.get("none")
    assert "migrate" not in str(caught.value)


def test_without_it_commands_say_what_to_install(installed: Installed):
    for words in (("migrate", "--help"), ("migrate", "heritrix", "x"), ("help", "migrate")):
        done = nacre(*words)
        assert (done.code, done.out) == (2, "")
        assert "`nacre migrate` needs the extra `migrate` (nacre-migrate): " in done.err
        # With the path from here; `migrate` without a slash is a package of an index.
        assert done.err.endswith(" -m pip install migrate/\n")
        assert "Traceback" not in done.err
    assert "migrate" in nacre("--help").out


@pytest.mark.parametrize("words", [(), ("check",)])
def test_without_it_the_port_says_so_and_nothing_is_served(
    installed: Installed, words: tuple[str, ...], tmp_path: object
):
    done = nacre("console", *words, "--heritrix", 0, "--port", 0, "--state", f"{tmp_path}/state")
    assert (done.code, done.out) == (2, "")
    assert "Heritrix's REST interface needs the extra `migrate`" in done.err
    assert "--heritrix" in nacre("console", "--help").out


def test_without_it_editors_have_no_names_of_heritrix(installed: Installed):
    assert heritrix_properties() == {}
    find_extension.cache_clear()
    heritrix_properties.cache_clear()
    installed.entries = [WHOLE]
    assert "FetchHTTP.maxLengthBytes" in heritrix_properties()["fetch.max_length"]


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("nacre_migrate.none:MIGRATE", "fails: ModuleNotFoundError: No module named"),
        ("nacre_migrate.component:NONE", "fails: AttributeError: "),
        ("tests.config.test_extension:NEWER", "was written for contract 2; this version of Nacre"),
    ],
)
def test_a_broken_one_is_named(installed: Installed, value: str, error: str):
    installed.entries = [EntryPoint(MIGRATE, value, registry.COMPONENTS)]
    done = nacre("migrate", "--help")
    assert done.code == 1
    assert f"nacre: the plug-in migrate ({value}) {error}" in done.err
    assert done.err.count("\n") == 1
    advice = "Bring Nacre up to date" if "contract" in error else " -m pip install migrate/"
    assert done.err.endswith(f"{advice}\n")
    assert heritrix_properties() == {}


@pytest.mark.parametrize("is_last", [False, True])
def test_a_broken_plugin_of_the_same_name_does_not_hide_it(installed: Installed, is_last: bool):
    broken = EntryPoint(MIGRATE, "tests.config.none:RULE", registry.COMPONENTS)
    installed.entries = [WHOLE, broken] if is_last else [broken, WHOLE]
    assert find_extension(MIGRATE) is component.MIGRATE


def test_two_packages_of_one_name_are_refused(installed: Installed):
    other = EntryPoint(MIGRATE, "tests.config.test_extension:OTHER", registry.COMPONENTS)
    installed.entries = [WHOLE, other]
    done = nacre("migrate", "--help")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"nacre: there is more than one extension migrate: the plug-in migrate ({WHOLE.value}), "
        f"and the plug-in migrate ({other.value}). Uninstall all but one\n"
    )


def test_a_part_that_is_missing_is_named():
    with pytest.raises(NacreError, match=r"the plug-in migrate \(nacre_migrate.x:y\) fails: "):
        load_part(MIGRATE, "nacre_migrate.x:y")


def test_the_message_names_the_extra_where_no_clone_is(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr("nacre.config.extras._CLONE", tmp_path)
    text = str(MissingExtraError("it needs", MIGRATE))
    assert text.startswith("it needs the extra `migrate` (nacre-migrate): ")
    assert text.endswith(" -m pip install 'nacre[migrate]'")
