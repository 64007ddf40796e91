"""What halving and doubling each guessed constant of the planner does to the goals.

    python -m bench.ablation            # all of them: `make ablation`
    python -m bench.ablation ranking.lists sites.tried

The planner visits small worlds of the simulated web, once as it is, and with each guess
(`nacre.planner.tuning`) halved and doubled. Each variant runs in a separate process: a
guess is scaled before the module that uses it is imported. Finished variants are kept in
`.cache/ablation.json`, and the pages of the worlds in the same folder, as long as the code of the
planner, of the extractors and of the simulated web is the same. The table goes into
docs/incremental.md, between its marks.

It takes about fifteen minutes of one core. `python -m bench.ablation table` writes the finished
variants.
"""

import hashlib
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
PAGE = ROOT / "docs" / "incremental.md"
BEGIN, END = "<!-- ablation -->", "<!-- end of ablation -->"
FACTORS = (0.5, 2.0)
CODE = ("src/nacre/recrawl", "src/nacre/extract", "src/nacre/core", "simweb/src")
SEED = 3
Figures = dict[str, float]
_pages: dict[str, tuple[dict[Any, Any], dict[Any, Any]]] = {}
"""Pages of each world, as they were seen and taken apart."""


class Run(NamedTuple):
    """One world, and its figures.

    Attributes:
        world: Its name.
        hints: What it tells.
        days: Length, days.
        every: Days between steps.
        budget: Per cent of the site a day; None: no limit.
        scale: Share of its pages.
        warm: Days that are not counted.
        figures: Heading of each figure, and its place in the score.
    """

    world: str
    hints: str
    days: float
    every: float
    budget: float | None
    scale: float
    warm: float
    figures: Mapping[str, tuple[str, str]]


RUNS = (
    Run("gov-twin", "honest", 42.0, 7.0, None, 0.03, 0.0,
        {"requests saved": ("saving", "saved_requests"), "ECR": ("epoch", "recall")}),
    Run("mct-twin", "none", 20.0, 1.0, 10.0, 0.08, 5.0, {"VR": ("versions", "recall")}),
)  # fmt: skip


def main(names: list[str]) -> None:
    """Measure all guesses, or some, and write the table when it was all of them."""
    state_file = CACHE / "ablation.json"
    state = _state(state_file)
    figures: dict[str, Figures] = state["done"]
    # The first process also takes all pages apart, which the others need not do again.
    if "as it is" not in figures:
        figures["as it is"] = _in_process({})
        state_file.write_text(json.dumps(state), encoding="utf-8")
    guesses = _in_process({}, work=_guesses)
    for run in RUNS:
        _known_pages(run)
    if names == ["table"]:
        _write(table(guesses, figures))
        return
    for name in names or list(guesses):
        for factor in FACTORS:
            key = f"{name} {factor:g}"
            if key not in figures:
                figures[key] = _in_process({name: factor})
                state_file.write_text(json.dumps(state), encoding="utf-8")
                print(key, _moved(figures[key], figures["as it is"]) or "nothing moves", flush=True)
    if not names:
        _write(table(guesses, figures))


def _state(state_file: Path) -> dict[str, Any]:
    """What was measured before with the same code; nothing with another."""
    CACHE.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    if state_file.is_file():
        state: dict[str, Any] = json.loads(state_file.read_text(encoding="utf-8"))
        if state["code"] == digest.hexdigest():
            return state
    # What was seen of pages by other code may be of other pages, or taken apart otherwise.
    for run in RUNS:
        _pages_file(run).unlink(missing_ok=True)
    return {"code": digest.hexdigest(), "done": {}}


def _pages_file(run: Run) -> Path:
    """Where the pages of a world are kept."""
    return CACHE / f"ablation-{run.world}.pickle"


def _in_process(
    factors: Mapping[str, float], work: Callable[[], dict[str, Any]] | None = None
) -> dict[str, Any]:
    """Run in a separate process, with scaled guesses."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        status = 1
        try:
            from nacre.planner import tuning

            tuning.scale(factors)
            with os.fdopen(write, "w", encoding="utf-8") as pipe:
                json.dump((work or measure)(), pipe)
            status = 0
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        output = pipe.read()
    if os.waitpid(child, 0)[1]:
        raise SystemExit(f"the planner failed with {dict(factors)}")
    result: dict[str, Any] = json.loads(output)
    return result


def measure() -> Figures:
    """The figures of all runs."""
    figures: Figures = {}
    for run in RUNS:
        figures.update(_measure(run))
    return figures


def _measure(run: Run) -> Figures:
    from nacre_simweb import decision, driver, experiment, ours, recall, score

    day = 86_400.0
    plan = experiment.ExperimentPlan(run.world, run.hints, SEED, run.days, run.every * day)  # type: ignore[arg-type]
    world = experiment.make_world(plan, run.scale)
    pages = _pages_file(run)
    looks, views = _known_pages(run)
    policy = ours.Nacre(hints=run.hints != "none", views=views)
    share = None if run.budget is None else plan.share(run.budget)
    steps = driver.DriverSteps(plan.every, run.days, share, SEED, 0.0)
    decisions = decision.Decisions(world, looks)
    drive = driver.drive(world, policy, decisions, steps)
    window = recall.CountedWindow([time for time in steps.times if time >= run.warm * day])
    run_score = score.score(world, decisions.archive, window, score.claims_of(policy, drive))
    if not pages.is_file():
        pages.write_bytes(pickle.dumps((looks, views)))
    return {name: float(run_score[group][key] or 0.0) for name, (group, key) in run.figures.items()}


def _known_pages(run: Run) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """What the first process saw of a world; nothing in that one."""
    if run.world not in _pages:
        path = _pages_file(run)
        if not path.is_file():
            return {}, {}
        _pages[run.world] = pickle.loads(path.read_bytes())
    return _pages[run.world]


def _guesses() -> dict[str, Any]:
    """All guesses: value and meaning, by name."""
    from nacre.planner import tuning

    import_module("nacre_simweb.ours")  # it imports all that makes guesses
    return {name: (guess.value, guess.purpose) for name, guess in sorted(tuning.GUESSES.items())}


def _moved(figures: Figures, base: Figures) -> str:
    """What moves, in points."""
    moved = {name: 100.0 * (figures[name] - base[name]) for name in base}
    return ", ".join(f"{name} {points:+.2f}" for name, points in moved.items() if points)


def table(guesses: Mapping[str, Any], figures: Mapping[str, Figures]) -> str:
    """Return the table, and the number of the guesses without effect."""
    base = figures["as it is"]
    measured_names = [
        name for name in guesses if all(f"{name} {percent:g}" in figures for percent in FACTORS)
    ]
    effects = {
        name: [
            [100.0 * (figures[f"{name} {factor:g}"][figure] - base[figure]) for factor in FACTORS]
            for figure in base
        ]
        for name in measured_names
    }
    moving = [name for name in measured_names if any(map(any, effects[name]))]
    moving.sort(key=lambda name: -max(abs(percent) for pair in effects[name] for percent in pair))
    heads = " | ".join(base)
    lines = [
        f"| guess | value | what it is | {heads} |",
        "|---" * (3 + len(base)) + "|",
        f"| as it is | | | {' | '.join(f'{100.0 * percent:.1f} %' for percent in base.values())} |",
    ]
    for name in moving:
        value, meaning = guesses[name]
        moved = " | ".join(_pair(pair) for pair in effects[name])
        lines.append(f"| `{name}` | {_number(value)} | {meaning} | {moved} |")
    idle = len(measured_names) - len(moving)
    lines += ["", f"The other {idle} have no effect."] if idle else []
    left = [name for name in guesses if name not in measured_names]
    lines += (
        ["", "Not measured yet: " + ", ".join(f"`{name}`" for name in left) + "."] if left else []
    )
    return "\n".join(lines)


def _pair(points: Iterable[float]) -> str:
    return " / ".join(f"{point:+.1f}" if abs(point) >= 0.05 else "0" for point in points)


def _number(value: float | list[float]) -> str:
    if isinstance(value, list):
        return ", ".join(f"{part:g}" for part in value)
    return f"{value:g}"


def _write(text: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, after_begin = page.partition(BEGIN)
    _, _, after = after_begin.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
