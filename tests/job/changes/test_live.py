"""Settings of a running job: each that may change is changed, and its part is asked what it has."""

import asyncio
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from nacre.config.place import Property, find, properties, with_values
from nacre.errors import ConfigError
from nacre.job.changes.change import FIXED, Changer
from nacre.job.changes.live import apply
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import Events
from nacre.job.job import Job
from nacre.job.session import Session
from nacre.store.recovery import Start
from tests.job.walking import other_values

SETTINGS = JobSettings(seeds=("http://127.0.0.1:9/",))
LIVE = [found for found in properties(SETTINGS) if found.live]
SPECIAL = {"sheets", "sheet_associations"}

# What the part that a section steers looks at; the longest beginning of the path counts.
PARTS: dict[str, Callable[[Session], Any]] = {
    "": lambda session: session.parts.effective[0],
    "engine.parallel": lambda session: session.parts.engine.parallel,
    "engine.outside_kept": lambda session: session.parts.outside.capacity,
    "engine.scope_log": lambda session: session.parts.candidates._log is not None,
    "engine.follow_error_pages": lambda session: (
        session.parts.engine.disposition.parts.follow_errors[0]
    ),
    "frontier": lambda session: session.parts.frontier.terms.whole,
    "politeness": lambda session: session.parts.frontier.terms.politeness[0],
    "robots": lambda session: session.parts.robots._settings[0],
    "network.allow": lambda session: session.parts.guard.allow,
    "dns": lambda session: session.parts.resolver._settings,
    "cookies": lambda session: session.parts.jar.settings,
    "cookies.save_file": lambda session: session.settings.cookies.save_file,
    "dedup": lambda session: session.parts.archive._dedup[0],
    "archive": lambda session: session.parts.archive.large.settings,
    "limits": lambda session: session.settings.limits,
    "action": lambda session: session.settings.action,
    "checkpoint": lambda session: session.settings.checkpoint,
    "alerts": lambda session: session.settings.alerts,
    "disk": lambda session: session.space.settings.disk,
}


def seen(session: Session, path: str) -> object:
    """The value that the part works with."""
    sections = [known for known in PARTS if known and (path + ".").startswith(known + ".")]
    section = max(sections, key=len, default="")
    value = PARTS[section](session)
    rest = path.removeprefix(section).removeprefix(".")
    if section == "network.allow":
        value = tuple(net for net in value if net in session.settings.network.allow)
    return find(value, rest).value if rest else value


async def opened(root: Path) -> Session:
    job = Job(root, SETTINGS)
    session = Session(job.layout, SETTINGS, job.disk, job.clock, Events())
    session.open(await job.guard(), job.seeds, Start())
    return session


def test_each_live_setting_reaches_its_part_at_once(tmp_path: Path):
    async def walk() -> list[str]:
        # For settings that name files.
        for name in ("x", "file.txt"):
            (tmp_path / name).write_text("")
        session = await opened(tmp_path)
        try:
            return [found.path for found in LIVE if not _obeys(session, tmp_path, found)]
        finally:
            await session.close()

    assert asyncio.run(walk()) == []
    assert len(LIVE) > 180


def _obeys(session: Session, root: Path, found: Property) -> bool:
    if found.path in SPECIAL:
        return True
    changed = with_values(SETTINGS, other_values(SETTINGS, found))
    change = Changer(changed, root, running=True).done()
    before = seen(session, found.path)
    apply(session, change)
    after = seen(session, found.path)
    apply(session, Changer(SETTINGS, root, running=True).done())
    return bool(after == find(change.settings, found.path).value != before)


@pytest.mark.parametrize(
    "path",
    [found.path for found in properties(SETTINGS) if not found.live and found.path[-5:] != ".rule"],
)
def test_the_others_say_why_not_and_what_to_do(path: str):
    changer = Changer(SETTINGS, Path(), running=True)
    with pytest.raises(ConfigError, match=r"cannot be changed while the job runs.*nacre run"):
        changer.put(path, find(SETTINGS, path).value)
    assert path.partition(".")[0] in FIXED
    assert changer.settings is SETTINGS


def test_sheets_come_and_go(tmp_path: Path):
    async def go() -> None:
        session = await opened(tmp_path)
        try:
            delay = session.parts.politeness
            overlay = session.parts.sheets.of_url
            changer = Changer(SETTINGS, tmp_path, running=True)
            changer.assign(["sheets.slow.politeness.delay=7"])
            changer.associate({"surts": ["http://a.test/"], "sheets": ["slow"]})
            apply(session, changer.done())
            assert delay[overlay("https://a.test/x")].delay == 7
            assert delay[overlay("https://b.test/x")].delay is None
            changer = Changer(session.settings, tmp_path, running=True)
            changer.dissociate("slow")
            changer.remove_sheet("slow")
            apply(session, changer.done())
            assert delay[overlay("https://a.test/x")].delay is None
        finally:
            await session.close()

    asyncio.run(go())


def test_what_is_made_of_settings_follows(tmp_path: Path):
    async def go() -> None:
        session = await opened(tmp_path)
        try:
            said = {
                "scope.too-many-hops.max_hops": 3,
                "robots.agent": "other",
                "chains.fetch.preselect.block_all": True,
                "chains.fetch.quotas.enabled": False,
                "chains.disposition.archive.gate": "reject",
            }
            changer = Changer(SETTINGS, tmp_path, running=True)
            for path, value in said.items():
                changer.put(path, value)
            scope = session.parts.candidates.scope[0]
            apply(session, changer.done())
            assert session.parts.candidates.scope[0] is not scope
            plan = session.parts.engine._chain._plans[0]
            names = [bound.step.name for bound in plan]
            assert names == ["preselect", "runtime-limit", *names[2:]]
            assert attrgetter("_blocks")(plan[0].processor)[0].everything
            assert session.parts.engine.disposition.parts.plans[0].archives is False
            extract = plan[-1].processor
            assert attrgetter("_settings")(extract)[0].robots_agent == "other"
        finally:
            await session.close()

    asyncio.run(go())
