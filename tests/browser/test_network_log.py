"""Requests as the browser reports them."""

import pytest

from nacre.browser.network_log import MAX_EVENTS, MAX_URL, NetworkLog, clean_text
from nacre.browser.settle import Settling
from nacre.core.rendered import NetworkEvent


def log_of(*events: tuple[str, dict[str, object]]) -> NetworkLog:
    log = NetworkLog(Settling(0.0, 30.0), "MAIN")
    for number, (method, params) in enumerate(events):
        log.receive(f"Network.{method}", params, float(number))
    return log


def sent(
    url: str, kind: str = "Script", request: str = "1", **more: object
) -> tuple[str, dict[str, object]]:
    params: dict[str, object] = {
        "requestId": request,
        "request": {"url": url},
        "type": kind,
        **more,
    }
    return "requestWillBeSent", params


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("Stylesheet", "style"),
        ("XHR", "fetch"),
        ("EventSource", "fetch"),
        ("Ping", "beacon"),
        ("Manifest", "other"),
        ("Image", "image"),
        ("Unheard", "other"),
    ],
)
def test_kinds(kind, resource):
    assert log_of(sent("http://h.test/a", kind)).events == (
        NetworkEvent("http://h.test/a", resource),
    )


def test_documents_of_frames_are_frames():
    log = log_of(
        sent("http://h.test/", "Document", "1", frameId="MAIN"),
        sent("http://h.test/f", "Document", "2", frameId="F"),
    )
    assert [event.resource for event in log.events] == ["document", "frame"]


def test_a_whole_request():
    log = log_of(
        sent("http://h.test/a#x"),
        ("responseReceived", {"requestId": "1", "response": {"status": 200, "mimeType": "t/x"}}),
        ("loadingFinished", {"requestId": "1"}),
    )
    assert log.events == (NetworkEvent("http://h.test/a", "script", 200, "t/x"),)


def test_each_hop_of_a_redirect():
    log = log_of(
        sent("http://h.test/a"),
        sent("http://h.test/b", redirectResponse={"status": 302, "mimeType": ""}),
        ("loadingFailed", {"requestId": "1", "errorText": "net::ERR_FAILED"}),
    )
    assert log.events == (
        NetworkEvent("http://h.test/a", "script", 302),
        NetworkEvent("http://h.test/b", "script", error="net::ERR_FAILED"),
    )


def test_a_websocket():
    log = log_of(
        ("webSocketCreated", {"requestId": "1", "url": "wss://h.test/s"}),
        ("webSocketHandshakeResponseReceived", {"requestId": "1", "response": {"status": 101}}),
    )
    assert log.events == (NetworkEvent("wss://h.test/s", "websocket", 101),)


def test_from_the_cache():
    log = log_of(sent("http://h.test/a"), ("requestServedFromCache", {"requestId": "1"}))
    assert log.events[0].from_cache


@pytest.mark.parametrize("url", ["data:text/plain,x", "blob:http://h.test/1", "about:blank", 7])
def test_other_schemes_are_no_requests(url):
    assert not log_of(sent(url)).events


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"requestId": "1", "request": 7},
        {"requestId": "1", "response": {"status": "200", "mimeType": 7}},
        {"requestId": "1", "response": {"status": 10**9}},
        {"requestId": "1", "errorText": None},
    ],
)
@pytest.mark.parametrize("method", ["requestWillBeSent", "responseReceived", "loadingFailed", "x"])
def test_anything_else_is_passed_over(method, params):
    log = log_of(sent("http://h.test/"), (method, params))
    assert log.events[0].status == 0


def test_limits():
    many = [sent(f"http://h.test/{number}", request=str(number)) for number in range(2100)]
    assert len(log_of(*many).events) == MAX_EVENTS
    assert not log_of(sent("http://h.test/" + MAX_URL * "x")).events


def test_text_is_cut_and_can_be_encoded():
    assert clean_text("中文", 1) == "中"
    assert clean_text("a\ud800b", 10).encode() == b"a?b"
