"""`nacre rights JOB`: its exports."""

from types import SimpleNamespace

import pytest

from nacre.config import extras
from tests.cli.site import nacre
from tests.packing.jobs import make_job


def test_a_preference_that_no_capture_states_is_a_warning(tmp_path):
    root = make_job(tmp_path / "档案")
    plain = nacre("rights", root, "--csv")
    assert "warning" not in plain.err
    for options in (["--csv"], ["--parquet", tmp_path / "a.parquet"]):
        done = nacre("rights", root, *options, "--without", "trian-ai=n")
        assert done.code == 0, done.err
        assert "nacre: warning: no capture states trian-ai=n, so it leaves out none" in done.err
    assert nacre("rights", root, "--csv", "--without", "trian-ai=n").out == plain.out


@pytest.mark.parametrize(("unknown", "outcome"), [("keep", "listed"), ("drop", "left out")])
def test_captures_of_which_it_is_unknown_are_counted(tmp_path, unknown, outcome):
    root = make_job(tmp_path / "demo")
    done = nacre("rights", root, "--csv", "--without", "tdm=n", "--unknown", unknown)
    assert f"is not known, since a source was not collected: {outcome}" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("rights", "{}", "--parquet", "{}/a.parquet"),
        ("history", "{}", "export", "{}/a", "--parquet"),
    ],
)
def test_without_pyarrow_its_extra_is_offered_and_installed(tmp_path, monkeypatch, words):
    installed: list[list[str]] = []

    def run(command, **_):
        installed.append(command)
        return SimpleNamespace(returncode=1)

    root = make_job(tmp_path / "demo")
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr("subprocess.run", run)
    typed = [word.format(root) for word in words]
    done = nacre(*typed)
    assert done.code == 2
    assert "Parquet needs the extra `parquet` (pyarrow)" in done.err
    assert "requirements-parquet.lock; with --yes this command does it" in done.err
    assert installed == []
    nacre(*typed, "--yes")
    (command,) = installed
    assert any(word.endswith("requirements-parquet.lock") for word in command)
