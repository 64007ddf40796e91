"""Settings of a running job: each that may change is changed, and its part is asked what it has."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nacre.config.place import Property, find, properties, with_values
from nacre.core.crawluri import Hop, Outlink
from nacre.core.events import Events
from nacre.errors import ConfigError
from nacre.frontier.pending import pending
from nacre.job.job import Job
from nacre.job.session import Session
from nacre.job.settings_change import FIXED, SettingsEditor
from nacre.settings.settings import JobSettings
from nacre.store.recovery import StartOptions
from tests.engine.visiting import SEED, OpenJob, visiting
from tests.job.opened import log_of
from tests.job.walking import other_values

SETTINGS = JobSettings(seeds=("http://127.0.0.1:9/",))
LIVE = [
    found
    for found in properties(SETTINGS)
    if found.live and found.path != "extract.extractors"  # names that plug-ins bring
]
SPECIAL = {"sheets", "sheet_associations"}

# What the part that a section steers looks at; the longest beginning of the path counts.
PARTS: dict[str, Callable[[Session], Any]] = {
    "": lambda session: session.rules.effective[0],
    "engine.parallel": lambda session: session.engine.parallel,
    "engine.outside_kept": lambda session: session.scheduling.outside.capacity,
    "frontier": lambda session: session.frontier.settings_of(0),
    "politeness": lambda session: session.rules.settings.politeness,
    "network.allow": lambda session: session.fetching.guard.allow,
    "cookies": lambda session: session.fetching.jar.settings,
    "cookies.save_file": lambda session: session.settings.cookies.save_file,
    "archive": lambda session: session.storing.archive.large.settings,
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
    session.open(await job.guard(), job.seeds, StartOptions())
    return session


def test_each_live_setting_reaches_its_part_at_once(tmp_path: Path):
    async def walk() -> list[str]:
        # For settings that name files.
        for name in ("x", "file.txt"):
            (tmp_path / name).write_text("")
        (tmp_path / "site.js").write_text("export default async () => {}")
        session = await opened(tmp_path)
        try:
            return [found.path for found in LIVE if not _obeys(session, tmp_path, found)]
        finally:
            await session.close()

    assert asyncio.run(walk()) == []
    assert len(LIVE) > 180


def _obeys(session: Session, root: Path, found: Property) -> bool:
    # No part of a running job has the settings of batch rounds: their steps read the file.
    if found.path in SPECIAL or found.path.startswith("cycle."):
        return True
    changed = with_values(SETTINGS, other_values(SETTINGS, found))
    change = SettingsEditor(changed, root, running=True).finish()
    before = seen(session, found.path)
    session.apply(change)
    after = seen(session, found.path)
    session.apply(SettingsEditor(SETTINGS, root, running=True).finish())
    return bool(after == find(change.settings, found.path).value != before)


@pytest.mark.parametrize(
    "path",
    [found.path for found in properties(SETTINGS) if not found.live and found.path[-5:] != ".rule"],
)
def test_the_others_say_why_not_and_what_to_do(path: str):
    changer = SettingsEditor(SETTINGS, Path(), running=True)
    with pytest.raises(ConfigError, match=r"cannot be changed while the job runs.*nacre run"):
        changer.put(path, find(SETTINGS, path).value)
    assert path.partition(".")[0] in FIXED
    assert changer.settings is SETTINGS


def test_sheets_come_and_go(tmp_path: Path):
    async def go() -> None:
        session = await opened(tmp_path)
        try:
            delay = session.rules.effective.then(lambda s: s.politeness)
            overlay = session.rules.sheets.of_url
            changer = SettingsEditor(SETTINGS, tmp_path, running=True)
            changer.assign(["sheets.slow.politeness.delay=7"])
            changer.associate({"surts": ["http://a.test/"], "sheets": ["slow"]})
            session.apply(changer.finish())
            assert delay[overlay("https://a.test/x")].delay == 7
            assert delay[overlay("https://b.test/x")].delay is None
            changer = SettingsEditor(session.settings, tmp_path, running=True)
            changer.dissociate("slow")
            changer.remove_sheet("slow")
            session.apply(changer.finish())
            assert delay[overlay("https://a.test/x")].delay is None
        finally:
            await session.close()

    asyncio.run(go())


# ---- what parts do with changed settings


OTHER, LINK, ELSEWHERE = f"{SEED}other", f"{SEED}link", "http://elsewhere.test/"


def change(session: Session, **said: object) -> None:
    """Change a running job; `__` stands for the dot of a path."""
    editor = SettingsEditor(session.settings, session.layout.root, running=True)
    for path, value in said.items():
        editor.put(path.replace("__", "."), value)
    session.apply(editor.finish())


def waiting(session: Session) -> set[str]:
    return {entry.uri.url for entry in pending(session.storing.store)}


def links(*urls: str) -> list[Outlink]:
    return [Outlink(url, Hop.LINK, "a/@href") for url in urls]


def test_names_and_robots_txt_are_looked_up_by_them(tmp_path: Path):
    async def go() -> None:
        session = await opened(tmp_path)
        robots, resolver = session.fetching.robots, session.fetching.resolver
        try:
            assert robots.get("http://a.test", 1e9) is None
            change(session, robots__policy="custom")
            change(session, robots__custom="User-agent: *\nDisallow: /x")
            found = robots.get("http://a.test", 1e9)
            assert found is not None
            assert found[1] is not None
            assert [found[1].verdict(path)[0] for path in ("/", "/x")] == [True, False]
            change(session, dns__hosts={"own.test": ["192.0.2.1"]})
            assert (await resolver.lookup("own.test")).addresses == ("192.0.2.1",)
        finally:
            await session.close()

    asyncio.run(go())


@pytest.mark.parametrize(
    ("said", "types"),
    [
        ({}, ["response", "revisit"]),
        ({"dedup__min_length": 1000}, ["response", "response"]),
        ({"chains__disposition__archive__gate": "reject"}, []),
    ],
)
def test_replies_are_stored_by_them(tmp_path: Path, said: dict[str, object], types: list[str]):
    def act(job: OpenJob) -> None:
        change(job.session, **said)
        job.end(job.reply())
        job.end(job.reply(url=OTHER))

    stored = visiting(tmp_path, act).types
    assert [kind for kind in stored if kind in {"response", "revisit"}] == types


@pytest.mark.parametrize(
    ("said", "status", "left"),
    [
        ({}, 200, {LINK}),
        ({"scope__too-many-hops__max_hops": 0}, 200, set()),
        ({}, 404, set()),
        ({"engine__follow_error_pages": True}, 404, {LINK}),
    ],
)
def test_links_are_followed_by_them(
    tmp_path: Path, said: dict[str, object], status: int, left: set[str]
):
    def act(job: OpenJob) -> None:
        change(job.session, **said)
        job.end(job.reply(status, outlinks=links(LINK, ELSEWHERE)))
        assert waiting(job.session) == left

    visiting(tmp_path, act)


@pytest.mark.parametrize("logged", [False, True])
def test_decisions_of_the_scope_are_logged_by_them(tmp_path: Path, logged: bool):
    def act(job: OpenJob) -> None:
        change(job.session, engine__scope_log=logged)
        job.end(job.reply(outlinks=links(LINK)))

    assert (LINK in visiting(tmp_path, act).log("scope.log")) is logged


NO_REPLIES = {"quotas__host__responses": 0, "quotas__force_retire": False}


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"chains__fetch__preselect__block_all": True}, "-5001"),
        ({"chains__fetch__preselect__block_by_regex": ".*"}, "-5001"),
        (NO_REPLIES, "-5003"),
        (NO_REPLIES | {"chains__fetch__preselect__block_all": True}, "-5001"),
        (
            NO_REPLIES
            | {
                "chains__fetch__preselect__block_all": True,
                "chains__fetch__preselect__enabled": False,
            },
            "-5003",
        ),
    ],
)
def test_the_fetch_chain_is_made_anew(tmp_path: Path, said: dict[str, object], status: str):
    async def go() -> Session:
        job = Job(tmp_path, SETTINGS)
        session = Session(job.layout, SETTINGS, job.disk, job.clock, Events())
        try:
            session.open(await job.guard(), job.seeds, StartOptions())
            change(session, **said)
            await session.run()
        finally:
            await session.close()
        return session

    (line,) = log_of(asyncio.run(go()), "crawl.log").splitlines()
    assert line.split()[1] == status
