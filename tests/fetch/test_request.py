from nacre.core.status import FetchStatus
from nacre.fetch.request import FetchRequest, FetchResult


def test_a_request_asks_for_nothing_special() -> None:
    request = FetchRequest("http://a.test/")
    assert (request.method, request.body, request.check) == ("GET", None, None)


def test_results_do_not_share_their_annotations() -> None:
    one, two = FetchResult(FetchStatus.TIMEOUT), FetchResult(FetchStatus.TIMEOUT)
    one.annotations.append("x")
    assert two.annotations == []
