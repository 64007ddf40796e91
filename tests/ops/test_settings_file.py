import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from nacre.job.apply_change import ChangeRequest
from nacre.machine.layout import Layout
from nacre.messages import Message
from nacre.ops.settings import change_settings_file
from nacre.ops.settings_file import (
    CheckRequest,
    SaveRequest,
    find_problems,
    format_text,
    list_versions,
    read_version,
    save_config,
)
from tests.cli.site import nacre


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    assert nacre("new", tmp_path / "one", "http://127.0.0.1:9/").code == 0
    return Layout(tmp_path / "one")


@pytest.mark.parametrize(
    "more",
    [
        "include: /etc/hosts\n",
        "fetch: {proxy: {file: /etc/shadow}}\n",
        "dns: {hosts: {a.test: 127.0.0.1}}\n",
        "cookies: {load_file: /etc/hosts}\n",
    ],
)
def test_who_may_not_name_files_learns_nothing_of_them(layout: Layout, more: str):
    before = layout.config.read_text()
    text = before + more
    findings = find_problems(layout, CheckRequest(text))
    messages = [problem.message for problem in findings.problems]
    assert [text.startswith("only administrators") for text in messages] == [True]
    request = SaveRequest(text=text, force=True)
    assert save_config(layout, request).outcome == "problems"
    assert layout.config.read_text() == before
    assert save_config(layout, replace(request, files=True)).outcome == "saved"


def test_lines_of_a_form_end_as_those_of_the_file(layout: Layout):
    text = layout.config.read_text() + "limits: {documents: 3}\n"
    sent = SaveRequest(text=text.replace("\n", "\r\n"), files=True)
    assert save_config(layout, sent).outcome == "saved"
    assert layout.config.read_bytes() == text.encode()
    layout.config.write_bytes(text.replace("\n", "\r\n").encode())
    text = read_version(layout).text.replace("\r\n", "\n") + "name: 二\n"
    # The name is there already.
    assert save_config(layout, SaveRequest(text=text, files=True)).outcome == "problems"
    text = text.replace("name: one\n", "")
    assert save_config(layout, SaveRequest(text=text, files=True)).outcome == "saved"
    assert layout.config.read_bytes().count(b"\r\n") == text.count("\n")


def test_a_version_has_the_time_at_which_it_was_written(layout: Layout):
    os.utime(layout.config, (1_000_000.0, 1_000_000.0))
    request = SaveRequest(text=layout.config.read_text() + "limits: {documents: 3}\n", files=True)
    assert save_config(layout, request).outcome == "saved"
    saved, outside = list_versions(layout)
    assert (outside.number, outside.time) == (1, 1_000_000.0)
    os.utime(layout.config, (2_000_000.0, 2_000_000.0))
    layout.config.write_text(layout.config.read_text() + "# more\n")
    os.utime(layout.config, (3_000_000.0, 3_000_000.0))
    change_settings_file(layout, ChangeRequest(assignments=["limits.documents=4"]), "anna")
    times = [version.time for version in list_versions(layout)]
    assert times[1:] == [3_000_000.0, saved.time, 1_000_000.0]


def test_the_rights_of_the_file_stay(layout: Layout):
    layout.config.chmod(0o640)
    text = layout.config.read_text() + "# more\n"
    save_config(layout, SaveRequest(text=text, etag=read_version(layout).etag, files=True))
    assert layout.config.stat().st_mode & 0o777 == 0o640


def test_a_text_that_is_broken_is_not_formatted():
    assert format_text("a: [1\n").problems
    assert format_text("# 一\n").text == "# 一\n"


@pytest.mark.parametrize(
    ("part", "other", "code"),
    [
        ("username: anna", "username: [1]", "ops.secret-destination-unclear"),
        ("password: NOT", "passwords: NOT", "editing.secret-elsewhere"),
        ("password: NOT-SHOWN-1", "password: {env: NOT-SHOWN-1}", "editing.secret-would-be-shown"),
        ("NOT-SHOWN-1", "NOT-SHOWN-2", "editing.no-such-secret"),
    ],
)
def test_a_refused_secret_has_a_message_that_can_be_translated(
    layout: Layout, part: str, other: str, code: str
):
    entry = "{origin: https://a.example, username: anna, password: 口令}"
    layout.config.write_text(f"{layout.config.read_text()}fetch: {{credentials: [{entry}]}}\n")
    text = read_version(layout).text.replace(part, other)
    result = save_config(layout, SaveRequest(text=text, files=True, admin=True, force=True))
    assert result.findings is not None
    (problem,) = result.findings.problems
    assert isinstance(problem.message, Message)
    assert problem.message.code == code
