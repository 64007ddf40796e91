"""Builds the storing side: the three series of WARCs of a run, and the history of URLs.

One series is for all records, one for those that are large, one for the own records of pages that
were run in a browser.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

from msgspec import structs

from nacre import __version__
from nacre.archive.warc_writer import WarcOrigin, WarcWriter
from nacre.assembly.rules import JobRules
from nacre.browser.process import FLAGS
from nacre.browser.site_scripts import load_site_scripts
from nacre.engine.counters import Numbers
from nacre.engine.keeping import Bases, Keeping
from nacre.engine.link_keeping import LinkKeeping
from nacre.engine.outcomes import Outcomes
from nacre.engine.rights_book import RightsBook, RightsPlan
from nacre.engine.steps.archive import ArchiveStep
from nacre.engine.steps.page_unit import PageUnits
from nacre.fetch.settings import fill_user_agent
from nacre.history.dedup import Digests, History
from nacre.rights.vocabulary import read_preference
from nacre.runs.runs import RunContext
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import examine_sheets, values_of_path
from nacre.store.commit import GroupCommit
from nacre.store.file_table import warc_bytes_before
from nacre.store.store import Store

_TOTAL = "warc.total"


def site_script_digests(settings: JobSettings, root: Path) -> str:
    """Return the site scripts of a job and its sheets with their digests; "" for none.

    Args:
        settings: The job's.
        root: Its directory.

    Raises:
        ConfigError: A file cannot be read or is no script.
    """
    sheets = examine_sheets(settings, root)[0].sheets
    values = values_of_path(settings, sheets, "browser.scripts").values()
    names = dict.fromkeys(chain.from_iterable(cast("Sequence[str]", value) for value in values))
    scripts = (load_site_scripts([name], root)[0] for name in names)
    return ", ".join(f"{script.name} sha256:{script.digest}" for script in scripts)


def warc_writers(
    settings: JobSettings,
    context: RunContext,
    store: Store,
    commit: GroupCommit,
    numbers: Numbers,
) -> tuple[WarcWriter, WarcWriter, WarcWriter]:
    """Make the writers: of all records, of large ones, of those of pages; their bytes are counted.

    Args:
        settings: The job's.
        context: The run, which is in the name of the directory and in each warcinfo record.
        store: Stores the count.
        commit: Makes the written bytes durable.
        numbers: Gives serial numbers of files and ids of records.
    """
    clock = context.clock
    policy = settings.robots.policy
    origin = WarcOrigin(
        software=f"Nacre/{__version__}",
        hostname=socket.gethostname(),
        pid=os.getpid(),
        is_part_of=settings.name,
        robots=policy.value,
        user_agent=fill_user_agent(settings.fetch.user_agent, settings.fetch.contact),
        http_from=settings.fetch.mail_from,
        browser_flags=" ".join(FLAGS),
        browser_scripts=site_script_digests(settings, context.layout.root),
        run=f"runs/{context.run.name}",
    )
    total = store.counter(_TOTAL)
    writer = WarcWriter(settings.archive, origin, commit, clock, numbers, total)
    large, pages = (
        WarcWriter(settings.archive, structs.replace(origin, series=series), commit, clock, numbers)
        for series in ("large", "pages")
    )
    commit.on_seal(lambda: store.set_counter(_TOTAL, writer.total + large.total + pages.total))
    return writer, large, pages


@dataclass(frozen=True)
class Storing:
    """The parts of a run that store captures and look up stored captures.

    Attributes:
        store: The store of the job.
        commit: Makes its open group durable.
        numbers: Serial numbers and record ids.
        archive: Makes and writes records.
        rights: The ledger of preferences.
        pages: Writes the own records of pages in a browser.
        outcomes: How each URI ended.
        root: Directory of the job.
        before: Bytes of WARC of the other runs.
    """

    store: Store
    commit: GroupCommit
    numbers: Numbers
    archive: ArchiveStep
    rights: RightsBook
    pages: PageUnits
    outcomes: Outcomes
    root: Path
    before: int = 0

    @property
    def writers(self) -> tuple[WarcWriter, WarcWriter, WarcWriter]:
        """The writers of all series of WARCs."""
        return self.archive.writer, self.archive.large, self.pages.writer

    @property
    def written(self) -> int:
        """Bytes of WARC that the run wrote, in all its sessions."""
        return sum(writer.total for writer in self.writers)

    def rotate(self) -> None:
        """Close the WARCs that are open."""
        for writer in self.writers:
            writer.rotate()

    def rotate_idle(self) -> None:
        """Close the WARCs that got nothing for `archive.close_idle`."""
        for writer in self.writers:
            writer.rotate_idle()

    def configure(self, settings: JobSettings) -> None:
        """Apply changed settings to the writers."""
        policy = settings.robots.policy
        scripts = site_script_digests(settings, self.root)
        for writer in self.writers:
            origin = structs.replace(
                writer.origin,
                robots=policy.value,
                user_agent=fill_user_agent(settings.fetch.user_agent, settings.fetch.contact),
                http_from=settings.fetch.mail_from,
                browser_scripts=scripts,
            )
            writer.configure(settings.archive, origin)


def rights_plan(settings: JobSettings) -> RightsPlan:
    """Return what settings say about preferences."""
    rights = settings.rights
    enforced = (read_preference(text) for text in rights.enforce)
    return RightsPlan(
        records=rights.record,
        agent=settings.extract.robots_agent or settings.robots.agent,
        robots_agent=settings.robots.agent,
        robots_bytes=settings.robots.max_bytes,
        collects=rights.record and rights.collect_policies,
        enforced=tuple(preference for preference in enforced if preference is not None),
    )


def make_storing(
    rules: JobRules,
    context: RunContext,
    opened: tuple[Store, GroupCommit],
    scratch: Path | None,
) -> Storing:
    """Build the parts that store the captures of a run.

    Args:
        rules: The settings under each combination of sheets.
        context: The run.
        opened: The store and its group commit.
        scratch: Folder that large records are compressed to; None for the system's.
    """
    (store, commit), settings = opened, rules.settings
    numbers = Numbers(store, context.record_ids)
    root = context.layout.root
    writer, large, pages = warc_writers(settings, context, store, commit, numbers)
    digests = Digests(store)
    bases = Bases(root, store, digests)
    keep = rules.effective.then(lambda s: s.keep)
    plan = rules.effective.then(rights_plan)
    rights = RightsBook(store, plan, round(context.clock.now() * 1e6))
    archive = ArchiveStep(
        writer=writer,
        large=large,
        dedup=rules.effective.then(lambda s: s.dedup),
        history=History(store),
        digests=digests,
        numbers=numbers,
        keeping=Keeping(store, keep, bases, settings.archive.level),
        links=LinkKeeping(root, store, keep),
        rights=rights,
        scratch=scratch,
    )
    units = PageUnits(archive, pages, rules.effective.then(lambda s: s.browser), numbers, scratch)
    before = warc_bytes_before(store, context.run.name)
    return Storing(store, commit, numbers, archive, rights, units, Outcomes(store), root, before)
