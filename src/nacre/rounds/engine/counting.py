"""An engine that tells how many tasks of a step are done; another one runs them."""

from collections.abc import Callable, Container, Mapping, Sequence

from nacre.rounds.engine import OnResult, TaskEngine, TaskResult, TaskSpec

TASKS = "tasks"
"""The name under which it tells."""


class CountingEngine:
    """An engine that tells; see `TaskEngine`.

    Args:
        engine: It runs the tasks.
        told: Hears `TASKS` and `phase` (calls of `map` with tasks so far), `done`, `of`, and `work`
            (the name of their function).
        untold: Functions whose tasks are not told, since who runs them tells more.

    Attributes:
        name: That of the engine.
        workers: Likewise.
    """

    def __init__(
        self,
        engine: TaskEngine,
        told: Callable[[str, Mapping[str, int | str]], None],
        untold: Container[object] = (),
    ) -> None:
        self.name = engine.name
        self.workers = engine.workers
        self._engine = engine
        self._told = told
        self._untold = untold
        self._phase = 0

    @property
    def scratch(self) -> str:
        """See `TaskEngine.scratch`."""
        return self._engine.scratch

    def map(
        self,
        function: Callable[[TaskSpec], TaskResult],
        specs: Sequence[TaskSpec],
        on_result: OnResult[TaskResult] | None = None,
    ) -> list[TaskResult]:
        """See `TaskEngine.map`."""
        if not specs or function in self._untold:  # a part without tasks is none
            return self._engine.map(function, specs, on_result)
        self._phase += 1
        phase, done = self._phase, 0

        def tell() -> None:
            work = function.__name__
            self._told(TASKS, {"phase": phase, "done": done, "of": len(specs), "work": work})

        def heard(number: int, result: TaskResult) -> None:
            nonlocal done
            done += 1
            tell()
            if on_result is not None:
                on_result(number, result)

        tell()
        return self._engine.map(function, specs, heard)

    def close(self) -> None:
        """See `TaskEngine.close`."""
        self._engine.close()
