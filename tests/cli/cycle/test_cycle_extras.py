"""An extra that is missing: its command is named, and in a clone it is installed where wanted."""

import sys
from types import SimpleNamespace

import pytest

from nacre.config import extras
from tests.cli.site import nacre


class BegunAgainError(Exception):
    """Instead of the new process."""


@pytest.fixture
def missing(monkeypatch):
    """The extra is missing; what would be installed, and how the command begins again."""
    done = SimpleNamespace(installed=[], status=0)

    def run(words, **_):
        done.installed.append(words)
        return SimpleNamespace(returncode=done.status)

    def execve(_program, words, env):
        raise BegunAgainError(words[:3], env["NACRE_EXTRA"])

    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("os.execve", execve)
    return done


def test_the_command_that_installs_it_is_named(missing, tmp_path):
    for words in ([], ["generate"], ["readdb", "--stats"]):
        done = nacre("cycle", tmp_path / "书", *words)
        assert done.code == 2
        assert "requirements-cycle.lock; with --yes this command does it" in done.err
    assert missing.installed == []


@pytest.mark.parametrize("words", [["--yes"], ["--yes", "generate"], ["generate", "--yes"]])
def test_with_yes_it_is_installed_and_the_command_begins_again(missing, tmp_path, words):
    with pytest.raises(BegunAgainError) as begun:
        nacre("cycle", tmp_path, *words)
    assert begun.value.args == ([sys.executable, "-m", "nacre"], "cycle")
    (installed,) = missing.installed
    assert "--require-hashes" in installed


def test_an_install_that_fails_is_told(missing, tmp_path):
    missing.status = 1
    done = nacre("cycle", tmp_path, "--yes")
    assert done.code == 2
    assert "the install failed with 1: " in done.err


def test_what_is_missing_after_its_install_is_not_installed_again(missing, tmp_path, monkeypatch):
    monkeypatch.setenv("NACRE_EXTRA", "cycle")
    assert nacre("cycle", tmp_path, "--yes").code == 2
    assert missing.installed == []
