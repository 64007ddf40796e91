"""Carries the steps of a script out, by the commands of a running job. Nothing is evaluated."""

from collections.abc import Callable, Sequence
from re import escape
from typing import Any, Final

import msgspec

from nacre.errors import JobError, NacreError
from nacre.fleet.requester import Requester
from nacre.job.apply_change import ChangeRequest
from nacre.job.control import ask_command
from nacre.scope.patterns.matching import matcher
from nacre.web.port import PortParts
from nacre.web.workers.naming import require_may_name
from nacre_migrate.port.actions import HeritrixJobs, JobDesk
from nacre_migrate.port.bean_browser import BeanBrowser
from nacre_migrate.port.bean_tree import assignments, property_at
from nacre_migrate.port.rule_beans import rule_path
from nacre_migrate.port.statements import Literal, ScriptAction, ScriptStep, StepResult

_PATIENCE: Final = 60.0
_SEEDS: Final = ("seeds", False, False, False)
"""The options of an import of lines of a seed list."""
_Imported = tuple[dict[str, Any], list[tuple[int, str, str]]]
"""What is read of `job.frontier_edits.Imported`: counts, and the lines that were rejected."""
_STEERED: Final = {
    ScriptAction.RETIRE: "retire",
    ScriptAction.UNRETIRE: "unretire",
    ScriptAction.RECONSIDER: "reconsider",
    ScriptAction.WAKE: "wake",
}
_SENT: Final = {
    ScriptAction.PAUSE: "pause",
    ScriptAction.RESUME: "resume",
    ScriptAction.STOP: "stop",
    ScriptAction.CHECKPOINT: "checkpoint",
}


class ScriptRunner(JobDesk):
    """Carries out the steps of scripts on one job.

    Args:
        parts: The parts of the console that the port uses.
        jobs: The jobs of the port.
        name: Short name of the job.
        requester: The user of the request.
    """

    def __init__(
        self, parts: PortParts, jobs: HeritrixJobs, name: str, requester: Requester
    ) -> None:
        super().__init__(parts, jobs, requester)
        self._name = name
        self._beans = BeanBrowser(parts, jobs)

    async def run(self, steps: Sequence[ScriptStep]) -> str:
        """Carry out all steps; return their output.

        Raises:
            NacreError: A step is none of a job (then nothing is done), or the job refuses it.
        """
        for step in steps:
            _require_sound(step)
            if step.step is ScriptAction.SET:
                path, text = (
                    _text(value) for value in step.values if not isinstance(value, StepResult)
                )
                try:
                    await self._beans.assignments_of(self._name, path, text)
                except JobError as error:
                    raise JobError(f"{error}; nothing was done") from None
        results: list[str] = []
        printed = ""
        for number, step in enumerate(steps, 1):
            try:
                result = await self._do(step)
            except NacreError as error:
                done = f" (step {number} of {len(steps)})" if len(steps) > 1 else ""
                raise JobError(f"{step.step.value}{done}: {error}") from error
            results.append(result)
            if step.step is ScriptAction.PRINT:
                printed += "".join(_printed(part, results) for part in step.values)
        return printed

    async def _do(self, step: ScriptStep) -> str:
        """Carry out one step; its result as text."""
        values = [_text(value) for value in step.values if not isinstance(value, StepResult)]
        if step.step in _STEERED:
            queue = f"^{escape(values[0])}$" if values else ""
            answer = await self._ask("frontier-steer", action=_STEERED[step.step], queue=queue)
            return str(answer.get("changed", ""))
        if step.step in _SENT:
            answer = await self._ask(_SENT[step.step])
            return str(answer.get("name", ""))
        done: dict[ScriptAction, Callable[[list[str]], Any]] = {
            ScriptAction.DELETE: self._delete,
            ScriptAction.SEED: self._seed,
            ScriptAction.COUNT: self._count,
            ScriptAction.SET: self._set,
            ScriptAction.GET: self._get,
        }
        if step.step in done:
            return str(await done[step.step](values))
        if step.step is not ScriptAction.PRINT:
            await self._change(_change_of(step.step, values))
        return ""

    async def _delete(self, values: list[str]) -> int:
        """Delete pending URIs; Heritrix's expressions match the whole of a text."""
        queues, urls = ("", values[0]) if len(values) == 1 else values
        answer = await self._ask("frontier-delete", queues=_whole(queues), urls=_whole(urls))
        return int(answer.get("deleted", 0))

    async def _seed(self, values: list[str]) -> str:
        """Add a line to the seeds: a URL, or a directive such as `+http://(org,example,`."""
        answer = await self._ask("frontier-import", lines=values, options=_SEEDS)
        _, rejected = msgspec.convert(answer["imported"], _Imported)
        for _, _, reason in rejected:
            raise JobError(f"{values[0]!r} is no line of a seed list: {reason}")
        return ""

    async def _count(self, values: list[str]) -> str:
        answer = await self._ask("status")
        return str(answer.get("overview", {}).get(values[0], 0))

    async def _set(self, values: list[str]) -> str:
        await self._beans.change(self._name, values[0], values[1], self._requester)
        return ""

    async def _get(self, values: list[str]) -> str:
        return await self._beans.value(self._name, values[0])

    async def _change(self, request: ChangeRequest) -> None:
        await require_may_name(
            self._parts.readers,
            self._parts.reach,
            self._requester,
            self._jobs.job(self._name),
            request,
        )
        await self._ask("change", change=msgspec.to_builtins(request))

    async def _ask(self, command: str, **fields: object) -> dict[str, Any]:
        socket = self._jobs.job(self._name).layout.socket
        return await ask_command(socket, command, _PATIENCE, by=self._requester.name, **fields)


def _change_of(step: ScriptAction, values: list[str]) -> ChangeRequest:
    """The change of settings that a step about sheets is; like beans, until the job ends."""
    if step is ScriptAction.OVERLAY:
        sheet, path, text = values
        mapping = property_at(path)
        settings = assignments(mapping, text) if mapping is not None else []
        of_sheet = [f"sheets.{sheet}.{setting}" for setting in settings]
        return ChangeRequest(assignments=of_sheet, live_only=True)
    if step is ScriptAction.ASSOCIATE:
        association = {"surts": [values[0]], "sheets": [values[1]]}
        return ChangeRequest(associate=association, live_only=True)
    if step is ScriptAction.DISSOCIATE:
        return ChangeRequest(dissociate=values[1], surts=[values[0]], live_only=True)
    return ChangeRequest(remove=values[0], live_only=True)


def _require_sound(step: ScriptStep) -> None:
    """Refuse a step that cannot be carried out, before any is.

    Raises:
        JobError: No setting stands for its property, or its value is none.
        ConfigError: It is no regular expression.
    """
    if step.step is ScriptAction.DELETE:
        for text in step.values:
            matcher(_whole(str(text)))
    if step.step not in {ScriptAction.GET, ScriptAction.OVERLAY}:
        return
    path = str(step.values[1 if step.step is ScriptAction.OVERLAY else 0])
    mapping = property_at(path)
    is_rule = rule_path(path) is not None and step.step is ScriptAction.GET
    if mapping is None and not is_rule:
        raise JobError(f"no setting of Nacre stands for {path!r}; nothing was done")
    if mapping is not None and step.step is ScriptAction.OVERLAY:
        try:
            assignments(mapping, _text(step.values[-1]))
        except ValueError as error:
            raise JobError(f"{path}: {error}; nothing was done") from None


def _whole(expression: str) -> str:
    """An expression that is found in a text only if it matches the whole; "" for any text."""
    return f"^(?:{expression})$" if expression not in {"", ".*"} else ""


def _text(value: Literal | StepResult) -> str:
    """A value in Heritrix's words."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _printed(part: Literal | StepResult, results: Sequence[str]) -> str:
    return results[part.step] if isinstance(part, StepResult) else _text(part)
