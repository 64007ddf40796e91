"""Protocols of observers of visits, and of the supervisor of an engine."""

from typing import Any, Protocol

from nacre.core.processor import Visit
from nacre.core.states import ExitStatus
from nacre.history.rendered import RenderedDocuments, final_dom, requested_urls
from nacre.report.statistics import Stored


class VisitObserver(Protocol):
    """Takes part in the final visits of a run, in the steps in which they are stored and ended.

    An incremental run is one: its planner judges each page, and decides on its links.
    """

    def judge(self, visit: Visit) -> Any:  # noqa: ANN401 - a type of the observer
        """Judge a final visit; called once, in the commit group that its records join.

        It may annotate the visit, and set what must be stored (`visit.keep`, `visit.noted`). The
        records of a large capture are made before, those of all others after this call.

        Returns:
            What `follow` is given; never None.
        """
        ...

    def follow(self, visit: Visit, judgement: Any, stored: Stored, now: float) -> bool:  # noqa: ANN401 - as above
        """Take the outlinks of a visit whose records are written; False leaves them to the scope.

        Args:
            visit: The visit, final.
            judgement: What `judge` returned.
            stored: What was stored of it.
            now: Seconds since the epoch.
        """
        ...


class NoObserver:
    """The observer of a run that follows every link: it leaves visits as they are."""

    def judge(self, _visit: Visit) -> bool:
        """See `VisitObserver`; there is nothing to judge."""
        return True

    def follow(self, _visit: Visit, _judgement: object, _stored: Stored, _now: float) -> bool:
        """See `VisitObserver`; the candidate chain takes the outlinks."""
        return False


class RenderedObserver(NoObserver):
    """The observer of a run without a planner: it keeps the documents of pages in browsers.

    The next incremental run judges them; the archive alone has no more than the page's shell.

    Args:
        documents: Keeps them.
    """

    def __init__(self, documents: RenderedDocuments) -> None:
        self._documents = documents

    def judge(self, visit: Visit) -> bool:
        """See `VisitObserver`."""
        dom, capture, page = final_dom(visit), visit.capture, visit.page
        if dom and capture is not None and page is not None:
            requested = requested_urls(page)
            self._documents.put(visit.uri.url, dom, capture.began, requested, judged=False)
        return True


class Supervisor(Protocol):
    """Decides on the crawl as a whole; its parts request a pause or the end."""

    @property
    def elapsed(self) -> float:
        """Seconds that the run has been running, pauses left out."""
        ...

    def look(self) -> None:
        """Look soon whether there is something to do: a part has settled, or found something."""
        ...

    def begin_work(self) -> None:
        """A visit begins, and none was in process."""
        ...

    def hold(self, reason: str) -> None:
        """Pause the crawl for a reason."""
        ...

    def stop(self, status: ExitStatus) -> None:
        """Finish the URIs in process, and end the crawl."""
        ...
