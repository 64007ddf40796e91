from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.scope import NO_RULE, Decision, Opinion, Scope, Verdict, always, never
from nacre.scope.subject import Subject

A, R, N = Decision.ACCEPT, Decision.REJECT, Decision.NONE
PAGE = Subject("http://site.test/a")


def opinion(name, decision, *, speaks=True):
    return Opinion(name, decision, lambda _: speaks)


def test_the_last_opinion_wins_and_names_its_rule():
    scope = Scope([opinion("one", R), opinion("two", A), opinion("three", R, speaks=False)])
    assert scope.decide(PAGE) == Verdict(A, "two")
    assert scope.decide(PAGE).accepted


def test_no_opinion_is_not_accepted():
    scope = Scope([opinion("one", A, speaks=False)])
    assert scope.decide(PAGE) == Verdict(N, NO_RULE)
    assert not scope.decide(PAGE).accepted
    assert Scope([]).decide(PAGE).decision is N


def test_what_stands_before_a_constant_is_not_asked():
    asked = []

    def before(subject):
        asked.append(subject)
        return True

    scope = Scope(
        [
            Opinion("before", A, before),
            Opinion("constant", R, always),
            Opinion("silent", A, never),
        ]
    )
    assert scope.decide(PAGE) == Verdict(R, "constant")
    assert not asked


def test_the_trace_names_every_rule():
    scope = Scope([Opinion("all", R, always), Opinion("off", A, never), opinion("last", A)])
    assert scope.trace(PAGE) == [Verdict(R, "all"), Verdict(N, "off"), Verdict(A, "last")]
    assert [one.name for one in scope.opinions] == ["all", "off", "last"]


RULES = st.lists(st.tuples(st.sampled_from([A, R]), st.sampled_from(["yes", "no", "+", "-"])))


@given(RULES)
def test_backwards_gives_the_answer_of_forwards(rules):
    tests = {"yes": lambda _: True, "no": lambda _: False, "+": always, "-": never}
    opinions = [Opinion(str(at), said, tests[kind]) for at, (said, kind) in enumerate(rules)]
    scope, forward = Scope(opinions), Verdict(N, NO_RULE)
    for one in opinions:
        if one.test(PAGE):
            forward = Verdict(one.decision, one.name)
    assert scope.decide(PAGE) == forward
    spoken = [verdict for verdict in scope.trace(PAGE) if verdict.decision is not N]
    assert (spoken[-1] if spoken else Verdict(N, NO_RULE)) == forward


def test_surt_of_a_subject():
    assert Subject("https://Site.test/A".lower()).surt == "http://(test,site,)/a"
