"""Parameters that change nothing are told from those that choose the page."""

from nacre.history.finding.parameters import Parameter, parameters

SITE = "http://a.test/view"


def _pages(articles: int, sessions: int) -> list[tuple[str, str]]:
    return [
        (f"{SITE}?id={article}&sid={article}{session}", f"digest {article}")
        for article in range(articles)
        for session in range(sessions)
    ]


def test_a_session_id_is_idle_and_the_number_of_an_article_is_not() -> None:
    named = [(f"{SITE}?id={number}&lang=en", f"text {number}") for number in range(8)]
    found = {one.name: one for one in parameters(_pages(3, 3) + named)}
    assert found["sid"] == Parameter("a.test", "sid", 6, 6)
    assert found["sid"].idle
    assert (found["id"].pairs, found["id"].same, found["id"].idle) == (7, 0, False)
    assert "lang" not in found


def test_too_few_pairs_prove_nothing() -> None:
    (sid,) = parameters(_pages(2, 3))
    assert (sid.name, sid.pairs, sid.idle) == ("sid", 4, False)


def test_one_difference_is_enough() -> None:
    pages = [*_pages(3, 3), (f"{SITE}?id=1&sid=other", "another text")]
    assert not any(one.idle for one in parameters(pages))


def test_what_was_never_visited_and_what_has_no_query_is_left_out() -> None:
    assert parameters([(f"{SITE}?a=1", ""), (f"{SITE}?a=2", ""), (SITE, "x")]) == []
