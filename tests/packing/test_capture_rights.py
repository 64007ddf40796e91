"""Which captures a selection by preferences leaves out."""

from pathlib import Path
from typing import Literal

from nacre.archive.certificates import CHAIN_URN
from nacre.archive.page_records import urn_parts
from nacre.catalogue.holdings import open_holding
from nacre.packing.capture_rights import CaptureRights, RightsSelection
from nacre.packing.sources import all_captures
from nacre.rights.vocabulary import Preference
from tests.engine.page_making import page_visit
from tests.engine.visiting import SEED, OpenJob, visiting

OTHER = "http://b.test/"
TAG = (b"X-Robots-Tag", b"noarchive")


def make(root: Path) -> None:
    """A job of two pages in a browser, of which the first wants no archive."""

    async def act(job: OpenJob):
        for number, url, headers in ((1, SEED, [TAG]), (2, OTHER, [])):
            visit = page_visit(job, url, [], number, capture={"headers": headers})
            assert visit.page is not None
            await job.session.engine.visits.complete(visit)
            job.session.storing.pages.close(visit.page)
        job.session.storing.rotate()

    visiting(root, act)


def select(
    root: Path, wanted: str, unknown: Literal["keep", "drop"] = "keep"
) -> tuple[list[str], RightsSelection]:
    """The URLs that a selection keeps, and the selection."""
    holding = open_holding([root])
    with CaptureRights(holding) as rights:
        chosen = RightsSelection(rights, [Preference(wanted)], unknown)
        return [capture.url for capture in chosen.select(all_captures(holding))], chosen


def test_pictures_and_texts_of_a_page_are_left_out_with_it(tmp_path: Path):
    root = tmp_path / "job"
    make(root)
    every, _ = select(root, "nosuchword")
    mine = [url for url in every if SEED in {url, urn_parts(url)[1]}]
    assert {urn_parts(url)[0] for url in mine} >= {"", "pageinfo", "text", "view"}
    kept, chosen = select(root, "noarchive", "drop")
    assert sorted(kept) == sorted(set(every) - set(mine))
    assert (chosen.left_out, chosen.unknown) == (len(mine), 0)


def test_preference_that_no_capture_states_is_listed(tmp_path: Path):
    root = tmp_path / "job"
    make(root)
    assert select(root, "noarchive")[1].unstated == []
    kept, chosen = select(root, "noarchiv")
    assert (kept != [], chosen.left_out) == (True, 0)
    assert chosen.unstated == [Preference("noarchiv")]


def test_certificates_stay(tmp_path: Path):
    root = tmp_path / "job"
    make(root)
    holding = open_holding([root])
    (first, *_) = all_captures(holding)
    chain = first._replace(url=f"{CHAIN_URN}ab")
    with CaptureRights(holding) as rights:
        selection = RightsSelection(rights, [Preference("noarchive")], "drop")
        assert list(selection.select([chain])) == [chain]
