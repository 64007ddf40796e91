"""Secrets are read from where they are, and shown nowhere."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from nacre.config.check import load_partly
from nacre.config.component import Component, setting
from nacre.config.document import read_yaml
from nacre.config.secret import NOT_SHOWN, Secret, allow_unread_secrets

WORD = "hunter2-and-more"


class Job(Component):
    key: Secret = setting(Secret(), "A key.")


def loaded(text: str, root: Path | None = None) -> tuple[Secret, list[str]]:
    found, problems = load_partly(Job, [read_yaml(text, "f")], root)
    assert found is not None
    return found.settings.key, [str(problem) for problem in problems]


def test_from_the_environment_and_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KEY", WORD)
    (tmp_path / "key").write_text(f"{WORD}\n")
    assert loaded("key: {env: KEY}")[0].text == WORD
    assert loaded("key: {file: key}", tmp_path)[0].text == WORD
    assert loaded(f"key: {{file: {tmp_path}/key}}")[0].text == WORD
    assert loaded(f"key: {WORD}")[0].text == WORD
    assert not loaded("key: ''")[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key: {env: NONE}", "f:1: key: the environment has no variable NONE"),
        ("key: {file: none}", "/none cannot be read: No such file"),
        ("key: {file: empty}", "/empty is empty"),
        ("key: {vault: x}", "must be a text, `{env: NAME}` or `{file: PATH}`"),
        ("key: 5", "must be a text, `{env: NAME}` or `{file: PATH}`"),
        ("key: [hunter2-and-more]", "must be a text, `{env: NAME}` or `{file: PATH}`"),
    ],
)
def test_what_cannot_be_had_is_said_without_the_secret(tmp_path: Path, text: str, said: str):
    (tmp_path / "empty").write_text("\n")
    _, problems = loaded(text, tmp_path)
    assert len(problems) == 1
    assert said in problems[0]
    assert WORD not in problems[0]


def test_a_block_may_do_without_secrets_that_it_cannot_read(tmp_path: Path):
    (tmp_path / "empty").write_text("\n")
    for text, source in (("{env: NONE}", {"env": "NONE"}), ("{file: none}", {"file": "none"})):
        with allow_unread_secrets():
            found, problems = loaded(f"key: {text}", tmp_path)
            assert (found.text, found.source, problems) == ("", source, [])
            assert len(loaded("key: {file: empty}", tmp_path)[1]) == 1
        assert len(loaded(f"key: {text}", tmp_path)[1]) == 1


def test_a_file_without_a_known_directory():
    assert "write that of key in full" in loaded("key: {file: key}")[1][0]


@pytest.mark.parametrize("source", [{}, {"env": "KEY"}])
def test_no_text_of_it_shows_it(source: dict[str, str]):
    secret = Secret(WORD, source)
    job = Job(key=secret)
    texts = [str(secret), repr(secret), repr(job), str(job), job.model_dump_json()]
    texts.append(json.dumps(job.model_dump(mode="json")))
    assert not any(WORD in text for text in texts)
    assert secret.as_setting() == (source or NOT_SHOWN)
    assert secret.is_plain is not bool(source)


def test_equal_by_what_they_are():
    assert Secret("a") == Secret("a", {"env": "X"})
    assert hash(Secret("a")) == hash(Secret("a", {"env": "X"}))
    assert Secret("a") != Secret("b")
    assert str(Secret()) == "none"


def test_its_schema_names_the_references():
    schema = TypeAdapter(Secret).json_schema()
    assert [kind["type"] for kind in schema["anyOf"]] == ["string", "object", "object"]
