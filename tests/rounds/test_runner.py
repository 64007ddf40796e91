import re
from pathlib import Path

from nacre.job.diagnosis_text import WORKS
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.runner import TASKS, CountingEngine
from nacre.rounds.steps import fetch


def doubled(number: int) -> int:
    return 2 * number


def test_the_tasks_of_each_part_are_counted():
    told: list[tuple[str, dict[str, int | str]]] = []
    results: list[tuple[int, int]] = []
    engine = CountingEngine(LocalEngine(1), lambda what, numbers: told.append((what, {**numbers})))
    assert engine.map(doubled, [1, 2], lambda *pair: results.append(pair)) == [2, 4]
    assert engine.map(doubled, []) == []
    engine.close()
    assert (engine.name, engine.workers) == ("local", 1)
    assert engine.scratch == LocalEngine(2).scratch
    assert results == [(0, 2), (1, 4)]
    seen = [(numbers["phase"], numbers["done"], numbers["of"]) for _, numbers in told]
    assert seen == [(1, 0, 2), (1, 1, 2), (1, 2, 2)], "a part without tasks is none"
    assert {what for what, _ in told} == {TASKS}
    assert {numbers["work"] for _, numbers in told} == {"doubled"}


def test_the_work_of_all_tasks_of_rounds_has_words():
    folder = Path(fetch.__file__).parent
    steps = ("generate", "range_tasks", "update", "links", "dedup", "near", "sitemaps", "index")
    found = {
        name
        for step in steps
        for name in re.findall(r"engine\.map\(\s*(\w+)", (folder / f"{step}.py").read_text())
    }
    assert found == WORKS.keys()


def test_tasks_of_which_somebody_else_tells_are_not_counted():
    told: list[str] = []
    engine = CountingEngine(LocalEngine(1), lambda what, _: told.append(what), {doubled})
    assert engine.map(doubled, [1, 2]) == [2, 4]
    engine.close()
    assert told == []
