"""Parts of a unit that runs in this process: when they are made, what they hold, when it ends."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nacre.assembly.records import RunRecords
from nacre.core.states import ExitStatus
from nacre.rounds.segments.export import PartTables
from nacre.rounds.segments.part_maker import PartMaker, PartOptions, fetched_keys
from nacre.rounds.segments.parts import Chain, PartManifest, UnitPlace, check_files, newest_chain
from nacre.rounds.storage.local import LocalStorage
from nacre.rounds.visits.session_unit import UnitUri
from nacre.rounds.visits.unit_visits import NotAttempted, UnitOptions, VisitFacts
from tests.cli.site import many_pages, site
from tests.rounds.visits.units import Listed, facts_of, unit_job

pytestmark = pytest.mark.crawl


class Made:
    """A unit with a `PartMaker`, and what that told."""

    def __init__(self, root: Path, urls: Sequence[str]) -> None:
        self.root = root
        self.urls = list(urls)
        self.place = UnitPlace(LocalStorage(root / "cycle"), "s", "u0001")
        self.told: list[int] = []
        self.maker: PartMaker | None = None
        self.listed: type[Listed] = Listed

    def run(
        self,
        *,
        slice: float = 600.0,  # noqa: A002 - as the option is called
        options: UnitOptions | None = None,
        **sections: object,
    ) -> ExitStatus:
        """One attempt, to its end."""
        attempt = self.place.claim()
        chain = newest_chain(self.place, attempt)
        known = fetched_keys(self.place, chain)
        chosen = PartOptions(
            place=self.place,
            attempt=attempt,
            chain=chain,
            scratch=self.root / "scratch",
            mark="here",
            slice=slice,
            tables=lambda canonical: PartTables(canonical, 16),
            remaining=self.left,
            tell=self.told.append,
        )

        def make(records: RunRecords, facts: VisitFacts) -> PartMaker:
            self.maker = PartMaker(records, facts, chosen, lambda: NotAttempted.THROUGHPUT)
            return self.maker

        uris = self.listed(self.urls, done=list(known))
        job = unit_job(self.root / "job", uris, options, beside=[make], **sections)
        return asyncio.run(job.run())

    def left(self, done: set[str]) -> Iterator[tuple[str, str]]:
        yield from ((url, url) for url in self.urls if url not in done)

    @property
    def chain(self) -> Chain:
        return newest_chain(self.place, 99)

    def visits(self) -> dict[str, str | None]:
        """The reasons of all rows of visits, by key; None for what was fetched."""
        found: dict[str, str | None] = {}
        for part in self.chain:
            table = pq.read_table(
                self.place.storage.local_path(f"{self.place.parts}/{part.name}/visits.parquet")
            )
            found |= {row["key"]: row["reason"] for row in table.to_pylist()}
        return found


def test_a_unit_that_is_done_makes_one_last_part_and_forgets_it(tmp_path: Path):
    with site(many_pages(3)) as home:
        made = Made(tmp_path, [f"{home}p{number}.html" for number in range(3)])
        made.run()
    (part,) = made.chain
    assert (part.name, part.last, part.statuses, part.not_attempted) == (
        "1-001",
        True,
        {200: 3},
        {},
    )
    assert (part.facts, part.rows["visits"], part.scratch) == (3, 3, "here")
    kinds = sorted(Path(file.name).suffix for file in part.files)
    assert kinds == [".cdxj", ".gz", *[".parquet"] * 4]
    check_files(made.place.storage, part)
    assert set(made.visits()) == set(made.urls)
    assert made.told[-1] == 3
    # It is in the storage: neither the store nor the directory has it any more.
    assert facts_of(tmp_path / "job") == []
    assert not list((tmp_path / "job").rglob("*.warc.gz*"))
    assert not list((tmp_path / "scratch").rglob("*.parquet"))


def test_a_part_is_made_after_each_slice_and_all_together_hold_each_url_once(tmp_path: Path):
    with site(many_pages(12), slow=0.25) as home:
        made = Made(tmp_path, [f"{home}p{number}.html" for number in range(12)])
        made.run(slice=0.01, politeness={"delay": 0.0, "in_flight": 1})
    assert len(made.chain) > 1
    assert [part.number for part in made.chain] == list(range(1, len(made.chain) + 1))
    assert [part.last for part in made.chain] == [*[False] * (len(made.chain) - 1), True]
    assert sum(part.rows["visits"] for part in made.chain) == len(made.visits()) == 12
    bounds = [part.facts for part in made.chain]
    assert bounds == sorted(bounds)


def test_what_is_left_is_told_with_the_reason_of_its_host_or_of_the_end(tmp_path: Path):
    with site(many_pages(1)) as home:
        refused = "http://127.0.0.1:9/"
        made = Made(tmp_path, [f"{home}p0.html", f"{home}书.html", f"{refused}a"])
        made.run(options=UnitOptions(deadline=1.0))
    (part,) = made.chain
    assert part.last
    assert part.not_attempted == {"throughput": 3 - part.facts}
    assert {reason for reason in made.visits().values() if reason} == {"throughput"}
    assert fetched_keys(made.place, made.chain) == {
        key for key, reason in made.visits().items() if reason is None
    }


def test_a_file_that_wants_the_end_leaves_a_unit_that_goes_on(tmp_path: Path):
    with site(many_pages(20), slow=0.1) as home:
        made = Made(tmp_path, [f"{home}p{number}.html" for number in range(20)])
        made.place.storage.put(made.place.stop, b"")
        how = made.run(politeness={"delay": 0.0, "in_flight": 1})
        assert how is ExitStatus.INTERRUPTED
        assert not any(part.last for part in made.chain)
        made.place.storage.delete(made.place.stop)
        made.run()
    assert made.chain[-1].last
    assert {part.attempt for part in made.chain} <= {1, 2}
    assert sum(part.rows["visits"] for part in made.chain) == 20


def test_an_attempt_that_a_later_one_fenced_makes_no_part(tmp_path: Path):
    class Overtaken(Listed):
        def portion(self, start: int, number: int) -> list[UnitUri | None]:
            if not start:
                made.place.claim()
            return super().portion(start, number)

    with site(many_pages(2)) as home:
        made = Made(tmp_path, [f"{home}p{number}.html" for number in range(2)])
        made.listed = Overtaken
        made.run()
    assert made.maker is not None
    assert made.maker.fenced
    assert made.place.manifests() == {}


def test_a_part_that_counts_already_is_forgotten_when_its_session_begins_again(tmp_path: Path):
    with site(many_pages(2)) as home:
        made = Made(tmp_path, [f"{home}p{number}.html" for number in range(2)])
        made.run()
        (before,) = made.chain
        made.run()
    parts: list[PartManifest] = list(made.chain)
    assert [part.name for part in parts] == ["1-001", "2-001"]
    assert (parts[1].rows["visits"], parts[1].predecessor, parts[1].builds_on) == (0, 1, 1)
    assert parts[0] == before
