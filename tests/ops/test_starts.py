import pytest

from nacre.errors import ConfigError
from nacre.ops.starts import (
    MOST_ROUNDS,
    RecrawlRequest,
    RoundsRequest,
    StartRequest,
    recrawl_words,
    rounds_words,
    run_words,
)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (StartRequest(), []),
        (StartRequest(checkpoint="latest"), ["--checkpoint", "latest"]),
        (StartRequest(accept_loss=True, paused=True), ["--accept-loss"]),
    ],
)
def test_the_options_of_a_start(request_: StartRequest, words: list[str]):
    assert run_words(request_) == words


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RecrawlRequest(), ["--keep", "strict"]),
        (RecrawlRequest(full=True, keep="lean"), ["--keep", "lean", "--full"]),
        (RecrawlRequest(budget="500"), ["--keep", "strict", "--budget", "500"]),
    ],
)
def test_the_options_of_a_recrawl(request_: RecrawlRequest, words: list[str]):
    assert recrawl_words(request_) == words


@pytest.mark.parametrize(
    "request_", [RecrawlRequest(full=True, budget="500"), RecrawlRequest(budget="much")]
)
def test_options_of_a_recrawl_that_do_not_fit(request_: RecrawlRequest):
    with pytest.raises(ConfigError):
        recrawl_words(request_)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RoundsRequest(), []),
        (RoundsRequest(0, top=0, index=False), ["--top", "0", "--no-index"]),
        (
            RoundsRequest(dedup="host", engine="spark", units=2, index=True, time_limit="2h"),
            ["--units=2", "--dedup=host", "--engine=spark", "--index", "--time-limit", "2h"],
        ),
        (
            RoundsRequest(sitemaps=("https://例子.test/地图.xml",), until_due="1h"),
            ["--sitemaps=https://例子.test/地图.xml", "--until-due", "1h"],
        ),
    ],
)
def test_the_options_of_rounds(request_: RoundsRequest, words: list[str]):
    assert rounds_words(request_) == ["--rounds", str(request_.rounds), *words]


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (RoundsRequest(MOST_ROUNDS + 1), "10000"),
        (RoundsRequest(sitemaps=("/etc/passwd",)), "sitemaps"),
        (RoundsRequest(time_limit="soon"), "time-limit"),
        (RoundsRequest(until_due="never"), "until-due"),
    ],
)
def test_options_of_rounds_that_do_not_fit(request_: RoundsRequest, text: str):
    with pytest.raises(ConfigError, match=text):
        rounds_words(request_)
