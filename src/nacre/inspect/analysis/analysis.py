"""The base class of analyses, the reports on incremental crawling."""

from abc import abstractmethod
from typing import Any

from nacre.inspect.analysis.recrawl_data import RecrawlData, StoredRecrawlData
from nacre.inspect.reports.base import Report, ReportRequest
from nacre.inspect.typed_urls import typed_in_store
from nacre.inspect.view import View
from nacre.messages import message
from nacre.report.formatting import span
from nacre.wire.urltext import possible_urls


class Analysis(Report):
    """A report that is made of what the visits of a job have shown (`RecrawlData`)."""

    @abstractmethod
    def analyze(self, data: RecrawlData, request: ReportRequest) -> Any:  # noqa: ANN401
        """The data of the report, a struct.

        Raises:
            JobError: The job has no data for the request.
        """

    def data(self, view: View, request: ReportRequest) -> Any:  # noqa: ANN401 - each has its own
        """See `Report.data`; the last committed state is read, also beside a running job."""
        now = view.clock.now()
        stored = StoredRecrawlData(view.layout.root, view.store, view.settings, now)
        if request.url:
            request = request._replace(url=typed_in_store(view.store, request.url))
        return self.of(stored, request)

    def of(self, data: RecrawlData, request: ReportRequest) -> Any:  # noqa: ANN401
        """Compute the data of the report.

        Raises:
            JobError: The request does not fit this report, or the job has no data for it.
        """
        self.check(request)
        if request.url:
            request = request._replace(url=_as_known(data, request.url))
        return self.analyze(data, request)


def _as_known(data: RecrawlData, text: str) -> str:
    """The URL that is meant, as the job spells it; as it was typed when the job knows none."""
    names = possible_urls(text)
    for name in names:
        if data.row(name) is not None:
            return name
    met = {visit.url for visit in data.visits()}
    return next((name for name in names if name in met), text)


def credible_text(interval: float, shortest: float, longest: float) -> str:
    """Return the text of an estimated interval, in days, with its 90 % credible interval."""
    return message(
        "study.credible-interval", "{time} (90 % credible: {shortest} to {longest})",
        time=span(interval), shortest=span(shortest), longest=span(longest),
    )  # fmt: skip
