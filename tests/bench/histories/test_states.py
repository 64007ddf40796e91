from bench.histories.figures import Share
from bench.histories.policies import KnownPage, OfflinePolicy, budget_of, change_rates, past_rates
from bench.histories.results import JudgedVisit, ServedRequest, parse_requests
from bench.histories.site import SiteTruth, count_requests, holdings, oracle_requests
from bench.histories.states import PageState, delay_figures, deletion_figures, held_shares
from bench.histories.truth import Sight


def state(text: str, *links: str) -> PageState:
    zeros = "".join("0" if letter.isdigit() else letter for letter in text)
    return PageState(text.encode(), Sight(text.encode(), zeros.encode()), links)


HOME = state("home", "/a", "/b")
STATES = [
    {"/": HOME, "/a": state("a1"), "/b": state("b")},
    {"/": HOME, "/a": state("a2"), "/b": state("b")},
    {"/": state("home", "/a", "/c"), "/a": state("a2"), "/c": state("c")},
    {"/": state("home", "/a", "/c"), "/a": state("x"), "/c": state("c")},
]


def test_states_are_held_at_once_later_or_never():
    late = dict(STATES[1])
    held = [STATES[0], STATES[0], late, {**STATES[3], "/b": state("b")}]
    shares = held_shares(STATES, held, "text")
    assert shares.held == {"changed": Share(1, 2), "new": Share(0, 1), "gone": Share(0, 1)}
    assert shares.ecr == Share(1, 4)
    assert shares.in_time == Share(3, 4)
    assert shares.late == {"changed": (0.5, 0, 1), "new": (1.0, 1, 1)}
    assert delay_figures([0] * 18 + [3, 9]) == (0.6, 0, 3)
    assert held_shares(STATES, held, "less_numbers").held["changed"] == Share(1, 1)
    assert "ECR 1/4 = 0.250 | in time 3/4" in str(shares)


def test_deletions_that_a_page_tells_of_are_counted_apart():
    held = [STATES[0], STATES[1], STATES[1], STATES[3]]
    read = [("/", 0, 1), ("/", 1, 2)]
    gone = deletion_figures(STATES, held, read, lambda path, step: True)
    assert (gone.dropped, gone.other, gone.unnoticed) == (Share(1, 1), None, 0)
    late = deletion_figures(STATES, held, read[:1], lambda path, step: True)
    assert (late.dropped, late.other) == (Share(0, 0), (1.0, 1, 1))
    assert "others 1.0 (median 1, p95 1) runs late, 0 not noticed" in str(late)
    never = deletion_figures(STATES, [STATES[1]] * 4, read, lambda path, step: True)
    assert (never.dropped, never.unnoticed) == (Share(0, 1), 0)
    assert deletion_figures(STATES, [STATES[1]] * 4, [], lambda path, step: True).unnoticed == 1
    alive = deletion_figures(STATES, held, read, lambda path, step: False)
    assert (alive.dropped.size, alive.other, alive.unnoticed) == (0, None, 0)


def test_a_full_crawl_holds_all():
    result = OfflinePolicy(STATES, "full", 0, 7).run()
    shares = held_shares(STATES, result.held, "text")
    assert shares.ecr == Share(4, 4)
    # /b stays known after it is gone.
    assert result.requests == 3 + 4 + 4


def test_a_budget_limits_a_step():
    result = OfflinePolicy(STATES, "full", budget_of(40, 3), 7).run()
    assert result.requests == 2 * 3
    assert budget_of(5, 21) == 2


def test_an_oracle_visits_what_changes():
    assert change_rates(STATES) == {"/": 0.0, "/a": 2 / 3, "/b": 1 / 3, "/c": 1 / 3}
    result = OfflinePolicy(STATES, "oracle", 2, 7).run()
    held = held_shares(STATES, result.held, "text").held
    assert held["changed"] == Share(2, 2)
    assert held["new"] == Share(1, 1)  # its links are followed at once


def test_the_past_policy_knows_no_later_change():
    pages = [
        {"/": HOME, "/a": state("a"), "/b": state(f"b{version}")} for version in (0, 1, 1, 2, 2)
    ]
    assert past_rates(pages[:1]) == {"/": 1 / 4, "/a": 1 / 4, "/b": 1 / 4}
    result = OfflinePolicy(pages, "past", 2, 7).run()
    shares = held_shares(pages, result.held, "text")
    assert shares.held["changed"] == Share(1, 2)  # the first change was not to be known
    assert result.requests == 2 * 4


def test_intervals_of_nutch_grow_and_shrink():
    page = KnownPage(0.0, 10.0, 10.0)
    page.visited(10.0, changed=False)
    assert (page.interval, page.due) == (14.0, 24.0)
    page.visited(24.0, changed=True)
    assert round(page.interval, 6) == 11.2
    for _ in range(20):
        page.visited(99.0, changed=False)
    assert page.interval == 365.0


def visit(run: int, path: str, status: int = 200) -> JudgedVisit:
    return JudgedVisit(run, f"http://h:1{path}", "rate", "minor", status, "novel", 0.5, float(run))


def test_an_archive_holds_what_it_visited():
    visits = [visit(1, "/a"), visit(1, "/b"), visit(2, "/a?x"), visit(2, "/a"), visit(4, "/b", 404)]
    held, again = holdings(visits, STATES, "http://h:1")
    assert [set(have) for have in held] == [{"/a", "/b"}] * 4
    assert [have["/a"] for have in held] == [STATES[0]["/a"]] + [STATES[1]["/a"]] * 3
    assert (held[2]["/b"], held[3]["/b"]) == (STATES[0]["/b"], None)
    assert [(path, old, step) for _, path, old, step in again] == [("/a", 0, 1), ("/b", 0, 3)]


def test_requests_of_steps_are_counted():
    log = parse_requests(
        ["5\t200\t9\t0\t/a\n", "9\t200\t9\t0\t/a\n", "9\t200\t9\t1\t/a\n", "9\t404\t9\t0\t/x\n",
         "9\t200\t9\t0\t/i.png\n", "9\t200\t9\t0\t/robots.txt\n"]
    )  # fmt: skip
    assert log[0] == ServedRequest(5, 200, 9, 0, "/a")
    assert count_requests(log, 5, {"/a"}) == {
        "pages": 2, "second in a step": 1, "dead": 1, "other": 1,
    }  # fmt: skip
    inside = parse_requests(["9\t200\t9\t0\tcontent//a\n"])
    assert count_requests(inside, 5, {"/a"}, "content/")["pages"] == 1


def test_the_least_requests_of_an_oracle_are_searched():
    truth = SiteTruth(STATES, {})
    assert oracle_requests(truth, 7, 1.0) == 11
    assert oracle_requests(truth, 7, 0.0) == 3
    assert oracle_requests(SiteTruth([{"/": HOME}, {}], {}), 7, 1.5) is None
