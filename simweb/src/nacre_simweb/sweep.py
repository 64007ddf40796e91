"""Measures goals over seeds: in several processes, and an interrupted measurement goes on.

A part is what one seed needs of one world; it is one process's work, and each of its runs is kept
in a file as soon as it is made. Runs that other code made are made again.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

import nacre
from nacre.machine.local_files import replace_file
from nacre_simweb.goalruns import Runs, RunSetting, place
from nacre_simweb.goals import Goal, GoalResult, Spec, needs, result
from nacre_simweb.score import Score

_HEADLINE = "G1"


class Sweep(NamedTuple):
    """The measurements of a sweep.

    Attributes:
        goals: The goals.
        seeds: Seeds of the worlds.
        few: Seeds, the first ones, of all goals but the headline; 0: all of them.
        jobs: Processes.
    """

    goals: Sequence[Goal]
    seeds: Sequence[int]
    few: int = 0
    jobs: int = 1

    def seeds_of(self, goal: Goal) -> Sequence[int]:
        """Return the seeds that a goal is measured on."""
        return self.seeds[: self.few] if self.few and goal.name != _HEADLINE else self.seeds


class Part(NamedTuple):
    """Runs of one seed in one world.

    Attributes:
        seed: The seed.
        place: The world.
        specs: The runs.
        file: Where they are kept.
    """

    seed: int
    place: RunSetting
    specs: tuple[Spec, ...]
    file: Path


class _Kept(msgspec.Struct):
    code: str
    runs: list[tuple[Spec, Score]]


class Done(NamedTuple):
    """A part that is made."""

    part: Part
    scores: dict[Spec, Score]


def measured(sweep: Sweep, directory: Path | None = None) -> Iterator[Done | GoalResult]:
    """Yield each part as it is made, and then each goal.

    Args:
        sweep: What is to be measured.
        directory: Where runs are kept; None: nowhere.
    """
    with TemporaryDirectory() as spare:
        runs = {seed: Runs(seed) for seed in sweep.seeds}
        for part in _run_parts(parts_of(sweep, directory or Path(spare)), sweep.jobs):
            for spec, scores in part.scores.items():
                runs[part.part.seed].know(spec, scores)
            yield part
    for goal in sweep.goals:
        yield result(goal, [runs[seed] for seed in sweep.seeds_of(goal)])


def parts_of(sweep: Sweep, directory: Path) -> list[Part]:
    """Return all parts, those that take longest first."""
    specs_by_part: dict[tuple[int, RunSetting], dict[Spec, None]] = {}
    for goal in sweep.goals:
        for spec in needs(goal):
            for seed in sweep.seeds_of(goal):
                specs_by_part.setdefault((seed, place(spec)), {})[spec] = None
    parts = [
        Part(seed, where, tuple(specs), directory / _name(seed, where))
        for (seed, where), specs in specs_by_part.items()
    ]
    return sorted(parts, key=lambda part: (-len(part.specs), part.place, part.seed))


def _name(seed: int, where: RunSetting) -> str:
    return f"{where.world}-{where.hints}-{where.scale:g}-{where.long:g}-{seed}.json"


def _run_parts(parts: Sequence[Part], jobs: int) -> Iterator[Done]:
    if jobs <= 1:
        yield from map(make, parts)
        return
    # A separate process for each part, so that its world is freed.
    with ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        for future in as_completed([pool.submit(make, part) for part in parts]):
            yield future.result()


def make(part: Part) -> Done:
    """Make the runs of a part that are not kept yet."""
    scores = _read(part.file)
    runs = Runs(part.seed)
    for spec, known_scores in scores.items():
        runs.know(spec, known_scores)
    for spec in part.specs:
        if spec not in scores:
            scores[spec] = runs(spec)
            _write(part.file, scores)
    return Done(part, {spec: scores[spec] for spec in part.specs})


def _read(file: Path) -> dict[Spec, Score]:
    """Return stored runs; none if other code made them, or they cannot be read."""
    try:
        stored = msgspec.json.decode(file.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return {}
    return dict(stored.runs) if stored.code == code() else {}


def _write(file: Path, scores: dict[Spec, Score]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, msgspec.json.encode(_Kept(code(), list(scores.items()))))


@cache
def code() -> str:
    """Return a name of the code that measures: other code may come to other figures."""
    root = Path(nacre.__file__).parent
    digest = blake2b(digest_size=8)
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.hexdigest()
