"""The browser of beans: the settings of a job, and the change of one while the job runs."""

from typing import Any, Final

import msgspec

from nacre.errors import JobError
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.requester import Requester
from nacre.job.apply_change import ChangeRequest
from nacre.job.control import NotRunningError, ask_command
from nacre.web.port import PortParts
from nacre.web.workers.naming import require_may_name
from nacre_migrate.port.actions import HeritrixJobs
from nacre_migrate.port.bean_tree import assignments, beans_tree, property_at, setting_paths
from nacre_migrate.port.conversion import note
from nacre_migrate.port.rule_beans import rule_assignments, rule_path

_PATIENCE: Final = 60.0
"""Seconds that loading the settings, or a change, may take."""


class BeanBrowser:
    """It shows settings under Heritrix's names, and changes those of a job that runs.

    Args:
        parts: The parts of the console that the port uses.
        jobs: The jobs of the port.
    """

    def __init__(self, parts: PortParts, jobs: HeritrixJobs) -> None:
        self._parts = parts
        self._jobs = jobs

    async def tree(self, name: str, base: str, path: str) -> dict[str, Any]:
        """The tree `beans` of a job.

        Args:
            name: Short name of the job.
            base: URL of the engine.
            path: A bean, or a property of one; "" for the list of beans.

        Raises:
            RefusedRequestError: The job is not built (404), as theirs answers.
        """
        facts = await self._jobs.facts(name, base, logs=False)
        if not facts.is_built:
            raise RefusedRequestError(404, "not-built", f"{name} is not built")
        values = await self._values(name)
        return beans_tree(
            name, facts.url, path, values["values"], values["sheets"], values["rules"]
        )

    async def _values(self, name: str) -> dict[str, Any]:
        """The values in force of all settings that beans stand for, sheets and rules."""
        root = self._jobs.job(name).layout.root
        values: dict[str, Any] = await self._parts.readers.ask(
            "bean-values", root, _PATIENCE, paths=setting_paths()
        )
        return values

    async def value(self, name: str, path: str) -> str:
        """The value in force of a property, in Heritrix's words; "" for none."""
        values = await self._values(name)
        tree = beans_tree(name, "", path, values["values"], values["sheets"], values["rules"])
        return str(tree["target"] or "")

    async def assignments_of(self, name: str, path: str, text: str) -> list[str]:
        """The settings that a new value of a property becomes, as `path=value`.

        Raises:
            JobError: No setting stands for it, or the value is none.
        """
        at, mapping = rule_path(path), property_at(path)
        try:
            if at is not None and at.name:
                return rule_assignments((await self._values(name))["rules"], at, text)
            if mapping is not None:
                return assignments(mapping, text)
        except ValueError as error:
            raise JobError(f"{path}: {error}") from None
        raise JobError(f"no setting of Nacre stands for {path!r}: see `nacre check --explain`")

    async def change(
        self, name: str, path: str, text: str, requester: Requester, *, persist: bool = False
    ) -> str:
        """Change a property of a job that runs; return the message for the user.

        As in Heritrix, the change lasts until the job ends: its file stays as it is.

        Args:
            name: Short name of the job.
            path: The property, such as `disposition.minDelayMs`.
            text: Its new value, in Heritrix's words.
            requester: Who asks.
            persist: Change `crawl.yaml` too, which then configures the job in place of its beans.

        Raises:
            JobError: No setting stands for it, the value is none, or the job does not run.
            RefusedRequestError: It has the name of a file, and the user may set none (403).
            NacreError: The job refuses.
        """
        job = self._jobs.job(name)
        layout = job.layout
        assignments = await self.assignments_of(name, path, text)
        request = ChangeRequest(assignments=assignments, live_only=not persist)
        await require_may_name(self._parts.readers, self._parts.reach, requester, job, request)
        change = msgspec.to_builtins(request)
        try:
            await ask_command(layout.socket, "change", _PATIENCE, change=change, by=requester.name)
        except NotRunningError:
            command = f"nacre set {layout.root} {' '.join(assignments)}"
            raise JobError(f"{name} does not run; `{command}` sets it for its next run") from None
        summary = f"{path} = {text}: set {' '.join(assignments)}"
        if persist:
            summary += f", in {layout.config.name} too, which configures {name} from now on"
        else:
            summary += ", until the job ends"
        note(self._parts, layout, "INFO", f"beans: {summary}, by {requester.name}")
        return summary
