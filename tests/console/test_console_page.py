"""Every command of the pages about the console works; a console is not opened, but checked."""

from pathlib import Path

import pytest
import trustme

from nacre.fleet.passwords import PasswordChecker
from tests.cli.site import nacre
from tests.docs.test_commands import commands

PAGES = ("console.md", "console-api.md", "console-heritrix.md", "console-remote.md")
COMMANDS = [command for page in PAGES for command in commands(f"docs/{page}")]
WORDS = {"key", "user", "heritrix-key", "link", "check", "session"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_works(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(PasswordChecker.__init__, "__defaults__", (1, 64))
    (tmp_path / "crawls").mkdir()
    (tmp_path / "DIR").mkdir()
    made = trustme.CA().issue_cert("console.example.org")
    made.cert_chain_pems[0].write_to_path("CERT")
    made.private_key_pem.write_to_path("KEY")
    state = ("--state", tmp_path / "state")
    user = ("user", "add", "anna", "--role", "admin")
    words = [word for word in command.split()[2:] if word != "..."]
    if words[:1] and words[0] in WORDS:
        done = nacre("console", *words, *state, stdin="a long enough word\n" * 2)
    else:
        assert nacre("console", *user, *state, stdin="a long enough word\n" * 2).code == 0
        done = nacre("console", "check", *words, *state)
    assert done.code == 0, done.err or done.out
