"""Each constant of the planner has a source, or is a guess that the ablation can scale."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from nacre import planner
from nacre.planner import tuning
from nacre.planner.tuning import GUESSES, guess

ROOT = Path(planner.__file__).parent


def _is_number(value: ast.expr | None) -> bool:
    """An expression that is made of numbers and names alone, with a number in it."""
    if value is None:
        return False
    kinds = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name, ast.Tuple, ast.operator, ast.unaryop)
    parts = [part for part in ast.walk(value) if not isinstance(part, ast.expr_context)]
    numbers = [
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and type(part.value) in {int, float}
    ]
    return bool(numbers) and all(isinstance(part, kinds) for part in parts)


def _without_source(path: Path) -> list[str]:
    body = ast.parse(path.read_text("utf-8")).body
    missing = []
    for at, one in enumerate(body):
        if isinstance(one, ast.Assign | ast.AnnAssign) and _is_number(one.value):
            after = body[at + 1] if at + 1 < len(body) else None
            text = after.value if isinstance(after, ast.Expr) else None
            if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
                missing.append(f"{path.relative_to(ROOT)}:{one.lineno}")
    return missing


def test_each_constant_says_where_it_comes_from() -> None:
    paths = [path for path in ROOT.rglob("*.py") if path.parent.name != "schedules"]
    assert [line for path in sorted(paths) for line in _without_source(path)] == []


def test_a_guess_has_one_name_and_says_what_it_is() -> None:
    assert guess("test.plain", 7, "Something.") == 7
    assert GUESSES.pop("test.plain").purpose == "Something."
    guess("test.twice", 1, "Something.")
    with pytest.raises(ValueError, match=r"two guesses are called test\.twice"):
        guess("test.twice", 1, "Something else.")
    del GUESSES["test.twice"]


@pytest.mark.parametrize(
    ("value", "factor", "most", "scaled"),
    [(7, 0.5, 99, 4), (1, 0.5, 99, 1), (0.3, 2.0, 1.0, 0.6), (0.8, 2.0, 1.0, 1.0),
     ((1.0, 3.0), 2.0, 99, (2.0, 6.0))],
)  # fmt: skip
def test_a_guess_is_scaled_within_reason(
    monkeypatch: pytest.MonkeyPatch, value: float, factor: float, most: float, scaled: object
) -> None:
    monkeypatch.setattr(tuning, "_factors", {})
    tuning.scale({"test.scaled": factor})
    assert guess("test.scaled", value, "Something.", most=most) == scaled
    with pytest.raises(ValueError, match="before anything else"):
        tuning.scale({"test.scaled": factor})
    del GUESSES["test.scaled"]


def test_a_scaled_guess_reaches_the_module_that_uses_it() -> None:
    program = (
        "from nacre.planner import tuning\n"
        "tuning.scale({'ranking.lists': 2.0})\n"
        "from nacre.planner import ranking\n"
        "print(ranking._LISTS, tuning.GUESSES['ranking.lists'].value)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["6.0", "3.0"]
