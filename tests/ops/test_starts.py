import pytest

from nacre.errors import ConfigError
from nacre.ops.starts import (
    RecrawlRequest,
    StartRequest,
    recrawl_words,
    run_words,
)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (StartRequest(), []),
        (StartRequest(checkpoint="latest", set=("a=字",)), ["--checkpoint=latest", "--set=a=字"]),
        (StartRequest(accept_loss=True, paused=True), ["--accept-loss"]),
    ],
)
def test_the_options_of_a_start(request_: StartRequest, words: list[str]):
    assert run_words(request_) == words


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RecrawlRequest(), []),
        (RecrawlRequest(full=True, keep="lean"), ["--full", "--keep=lean"]),
        (RecrawlRequest(budget="500"), ["--budget=500"]),
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
