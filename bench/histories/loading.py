"""The site of a run's plan, from its repositories."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from bench.histories.pages import HistorySite
from bench.histories.repositories import Blobs, missing_blobs
from bench.histories.timeline import load_timeline, load_versions
from bench.histories.worlds import RunPlan


@contextmanager
def load_site(plan: RunPlan) -> Iterator[HistorySite]:
    """The site as it is served, and as the judges know it."""
    with closing(Blobs(plan.repo)) as blobs:
        # A commit in the second of the first crawl is a change for the first step.
        timeline = load_timeline(plan.repo, plan.branch, plan.start - 1, plan.end, plan.only)
        timeline.forget(missing_blobs(plan.repo, timeline.blobs))
        versions = load_versions(plan.versions, plan.repo) if plan.versions else {}
        yield HistorySite(
            timeline, blobs, versions, index=plan.index, ssi=plan.ssi, plain=plan.plain
        )
