from nacre.cycle.engine.counting import TASKS, CountingEngine
from nacre.cycle.engine.local import LocalEngine


def doubled(number: int) -> int:
    return 2 * number


def test_the_tasks_of_each_part_are_counted():
    told: list[tuple[str, dict[str, int]]] = []
    results: list[tuple[int, int]] = []
    engine = CountingEngine(LocalEngine(1), lambda what, numbers: told.append((what, {**numbers})))
    assert engine.map(doubled, [1, 2], lambda *pair: results.append(pair)) == [2, 4]
    assert engine.map(doubled, []) == []
    engine.close()
    assert (engine.name, engine.workers) == ("local", 1)
    assert results == [(0, 2), (1, 4)]
    seen = [(numbers["phase"], numbers["done"], numbers["of"]) for _, numbers in told]
    assert seen == [(1, 0, 2), (1, 1, 2), (1, 2, 2), (2, 0, 0)]
    assert {what for what, _ in told} == {TASKS}
