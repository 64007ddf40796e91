"""The commands of docs/identity.md work, in its order."""

import shlex
from pathlib import Path

import pytest

from tests.cli.site import nacre
from tests.docs.test_commands import commands
from tests.fetch.certificates import Authority
from tests.ops.identity_server import site_server


def test_every_command_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    authority = Authority(tmp_path)
    seen = []
    with site_server(authority) as server:
        for command in commands("docs/identity.md"):
            words = shlex.split(command.replace("https://crawler.example.org", server.origin))[1:]
            seen.append(words[1])
            roots = ["--roots", str(authority.roots)] if words[1] == "check" else []
            done = nacre(*words, *roots)
            assert done.code == 0, (command, done.out, done.err)
            if words[1] == "publish":
                server.publish(tmp_path / words[2])
    assert seen == ["new", "publish", "check", "rotate"]
