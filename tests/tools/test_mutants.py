import ast
import tomllib
from pathlib import Path

import pytest

from tools import mutants

TEXT = '''
class Queue:
    """A queue."""

    LIMIT = 3

    def ready(self, now: float) -> bool:
        """True when it may go on."""
        if self.wait and now < self.due:
            return False
        self.note(now + 1)
        return not self.retired
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "src" / "nacre").mkdir(parents=True)
    (tmp_path / "src" / "nacre" / "queue.py").write_text(TEXT)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    return "queue.py"


def test_each_piece_of_a_function_can_be_changed_and_nothing_else(module: str):
    found = {(one.before, one.after()) for one in mutants.mutants_of(module)}
    assert ("if self.wait and now < self.due:", "now <= self.due") in found
    assert ("if self.wait and now < self.due:", "self.wait or now < self.due") in found
    assert ("self.note(now + 1)", "pass") in found
    assert ("self.note(now + 1)", "now - 1") in found
    assert ("self.note(now + 1)", "2") in found
    assert ("return False", "True") in found
    assert ("return not self.retired", "return None") in found
    assert ("return not self.retired", "self.retired") in found
    assert all("LIMIT" not in before and '"""' not in before for before, _ in found)


def test_a_mutant_is_the_module_with_that_change_alone(module: str):
    plain = ast.unparse(ast.parse(TEXT)).splitlines()
    for one in mutants.mutants_of(module):
        other = one.source().splitlines()
        assert [new for old, new in zip(plain, other, strict=True) if old != new], one.name
        assert sum(old != new for old, new in zip(plain, other, strict=True)) == 1


def test_the_same_mutants_are_drawn_after_an_edit_elsewhere(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mutants, "CORE", (module,))
    before = [one.name for one in mutants.drawn(4, "seed")]
    assert before != [one.name for one in mutants.drawn(4, "other seed")]
    (tmp_path / "src" / "nacre" / "queue.py").write_text(f"import os\n{TEXT}")
    assert [one.name for one in mutants.drawn(4, "seed")] == before


def test_survivors_without_an_answer_are_named(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(mutants, "ANSWERS", tmp_path / "mutants.toml")
    first, second, *_ = mutants.mutants_of(module)
    assert mutants.report([first], 100, 1.0) == 1
    assert "99% killed" in capsys.readouterr().out
    (tmp_path / "mutants.toml").write_text(f'"{first.name}" = "it is the same"\n')
    assert mutants.report([first], 100, 1.0) == 0
    assert "it is the same" in capsys.readouterr().out
    assert mutants.report([first, second], 100, 1.0) == 1
    assert mutants.report([first] * 30, 100, 1.0) == 1


@pytest.mark.slow
def test_each_answer_is_about_a_mutant():
    """A mutant whose function or variable was renamed would have no answer when it survives."""
    modules = [module for name in mutants.CORE for module in mutants.modules_of(name)]
    names = {mutant.name for module in modules for mutant in mutants.mutants_of(module)}
    answers = tomllib.loads(mutants.ANSWERS.read_text("utf-8"))
    assert len(answers) > 10
    assert [name for name in answers if name not in names] == []
