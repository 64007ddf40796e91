"""A report of a plug-in is in the one registry, and is asked for as Nacre's own are."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from nacre.config import registry
from nacre.config.registry import Registry
from nacre.inspect.reports.base import Report
from nacre.plugin import Audience, ReportDocument, ReportRequest, Section, View


class Greeting(Report):
    """Says hello."""

    name = "greeting"
    summary = "says hello"
    audience = Audience.CURATOR
    contract = 1

    def data(self, view: View, request: ReportRequest) -> dict[str, Any]:
        return {"hello": request.url or "all"}

    def document(self, data: dict[str, Any], request: ReportRequest) -> ReportDocument:
        return ReportDocument("Greeting", (Section("", (data["hello"],)),))


def test_a_report_of_a_plug_in_is_found(monkeypatch: pytest.MonkeyPatch):
    entry = EntryPoint("greeting", f"{__name__}:Greeting", "nacre.components")
    monkeypatch.setattr(EntryPoint, "load", lambda _: Greeting)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])

    def belongs(part: object) -> bool:
        return isinstance(part, type) and issubclass(part, Report)

    reports: Registry[type[Report]] = Registry("report", belongs)
    report = reports.get("greeting")()
    assert report.document(report.data(None, ReportRequest()), ReportRequest()).title == "Greeting"  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no report 'greetings'; did you mean `greeting`"):
        reports.get("greetings")
