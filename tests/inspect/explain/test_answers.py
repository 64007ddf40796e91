import msgspec
import pytest

from nacre.inspect.explain.answers import (
    CaptureAnswer,
    Explanation,
    PathStep,
    PendingAnswer,
    PrerequisiteAnswer,
    QueueAnswer,
    RobotsAnswer,
    RuleOpinion,
    ScopeAnswer,
    SettingAnswer,
    Standing,
)

SCOPE = ScopeAnswer("ACCEPT", "surts", [RuleOpinion("surts", "ACCEPT", "ACCEPT")])
SHORT = Explanation(
    "http://a.test/x", "http://a.test/x", Standing.UNKNOWN, SCOPE, QueueAnswer("test,a"), "3 s"
)
FULL = msgspec.structs.replace(
    SHORT,
    standing=Standing.QUEUED,
    status=-50,
    way=[PathStep("http://a.test/", "", 200), PathStep("http://a.test/p", "L", None)],
    robots=RobotsAnswer("obey", "http://a.test", "rules", 200, allowed=True, crawl_delay=2.0),
    pending=PendingAnswer("future", None, 3, 1, 2, -2),
    behind=PrerequisiteAnswer("http://a.test/robots.txt", 1, -2, 60.0),
    capture=CaptureAnswer("a.warc.gz", 7, visits=2),
    sheets=("slow",),
    settings=[SettingAnswer("politeness.delay", 2.0, "sheet slow")],
    next_try=60.0,
)


@pytest.mark.parametrize("answer", [SHORT, FULL], ids=["short", "full"])
def test_an_answer_is_the_same_after_json(answer: Explanation):
    text = msgspec.json.encode(answer)
    assert msgspec.json.decode(text, type=Explanation) == answer


def test_the_keys_of_the_json_are_those_that_scripts_read():
    told = msgspec.to_builtins(FULL)
    assert told["standing"] == "queued"
    assert told["way"][1] == {"url": "http://a.test/p", "hop": "L", "status": None}
    assert told["scope"]["opinions"][0] == {
        "rule": "surts", "opinion": "ACCEPT", "says": "ACCEPT", "depth": 0,
    }  # fmt: skip
    assert told["robots"]["allowed"] is True
    assert told["behind"]["wait"] == 60.0
    assert told["settings"][0]["origin"] == "sheet slow"


def test_nothing_is_claimed_of_a_url_that_is_unknown():
    assert (SHORT.status, SHORT.pending, SHORT.behind, SHORT.capture) == (None, None, None, None)
    assert (SHORT.robots, SHORT.not_got, SHORT.next_try, SHORT.way) == (None, None, None, [])
    assert RobotsAnswer("obey", "http://a.test").allowed is None
    assert QueueAnswer("test,a").budget == -1


def test_an_answer_of_another_kind_is_refused():
    told = msgspec.to_builtins(SHORT) | {"standing": "lost"}
    with pytest.raises(msgspec.ValidationError, match="standing"):
        msgspec.convert(told, Explanation)
