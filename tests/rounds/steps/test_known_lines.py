"""Lines that were injected before are found unparsed, and the result is that of parsing them."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.crawldb.seeds import SEEDS
from nacre.rounds.admission import Admission
from nacre.rounds.steps import known_lines
from nacre.rounds.steps.inject import InjectOptions, InjectResult, inject
from nacre.rounds.steps.seed_rows import sync_seeds
from nacre.rounds.tables import seedlist
from nacre.rounds.tables.seedlist import PLAIN_LINE
from nacre.rounds.tables.versions import CycleVersion
from nacre.scope.seeds import SeedList
from tests.rounds.steps.test_generate import opened

JOB = """
name: x
seeds: []
scope:
  - {rule: surt-prefixed, coerce: host}
  - {rule: surt-prefixed, decision: REJECT, seeds_as_prefixes: false}
  - {rule: matches-regex, decision: REJECT, regex: '.*/private/.*'}
"""
LINES = [
    "http://a.example/",
    "http://a.example/x?y=1",
    "https://www.b.example/private/1",
    "http://书.example/国",
    "c.example",
    "http://A.example/Upper",
    "http://a.example/../up",
    "http://d.example/ scope=page",
    "http://e.example/\tnutch.score=2",
    "http://127.0.0.1/",
    "http://-/",
    "no seed at all !",
    "mailto:a@b.example",
    "# a note",
    "",
    "+http://(org,f,",
    "http://g.example/#part",
]


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "crawl.yaml").write_text(JOB)
    return tmp_path


def injected(root: Path, *lists: Sequence[str], **options: bool) -> InjectResult:
    named = [SeedList(f"list-{n}", list(lines)) for n, lines in enumerate(lists)]
    with opened(root) as context:
        return inject(context, named, InjectOptions(**options))


def newest(root: Path) -> CycleVersion:
    with opened(root) as context:
        return context.cycle.newest()


class Parsed:
    """Counts the lines that are parsed, and the seeds that are judged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines = self.judged = 0
        read, outside = seedlist.read_numbered, Admission.outside

        def counted(lines, file=""):
            for entry in read(lines, file):
                self.lines += 1
                yield entry

        def asked(admission, seed):
            self.judged += 1
            return outside(admission, seed)

        monkeypatch.setattr("nacre.rounds.steps.inject.read_numbered", counted)
        monkeypatch.setattr(Admission, "outside", asked)

    def clear(self) -> None:
        self.lines = self.judged = 0


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Parsed:
    monkeypatch.setattr(known_lines, "_LEAST_LINES", 1)
    return Parsed(monkeypatch)


def told(result: InjectResult) -> tuple[object, ...]:
    """What a result says, without its version."""
    return tuple(value for value in result[:-3] if not isinstance(value, CycleVersion))


def test_known_lines_are_not_parsed_again_and_give_the_same_result(
    job: Path, parsed: Parsed, monkeypatch: pytest.MonkeyPatch
):
    plain = [f"http://site{n % 7}.example/page{n}" for n in range(200)]
    lists = ([*LINES, *plain, *plain[:5]], plain[:3])
    injected(job, *lists)
    rows = newest(job).tables[SEEDS].rows
    # The line with + was not known to what was judged before it.
    injected(job, plain[:1], ["http://h.example/"])
    parsed.clear()
    with monkeypatch.context() as patched:
        patched.setattr(known_lines, "_still_judged", lambda *_: ())
        slow = injected(job, *lists)
    assert parsed.lines > 200
    parsed.clear()
    fast = injected(job, *lists)
    assert told(fast) == told(slow)
    assert (fast.new, fast.known, fast.twice) == (0, slow.known, slow.twice)
    assert newest(job).tables[SEEDS].rows == rows + 1


@pytest.mark.parametrize("with_directive", [False, True])
@pytest.mark.slow
def test_only_lists_that_the_rules_of_now_judged_are_looked_up(
    job: Path, parsed: Parsed, with_directive: bool
):
    plain = [f"http://site{n % 7}.example/page{n}" for n in range(50)]
    outside = "https://www.b.example/private/1"
    injected(job, [*plain, outside])
    parsed.clear()
    again = injected(job, [*plain, plain[0], outside, "http://new.example/"])
    assert (again.known, again.new, again.twice, again.seeds) == (51, 1, 1, 53)
    assert again.outside == {"matches-regex": 1}
    assert (parsed.lines, parsed.judged) == (2, 2), "the one that is outside, and the new one"
    root_list = job / "crawl.yaml"
    root_list.write_text(JOB.replace("seeds: []", "seeds: [http://own.example/]"))
    with opened(job) as context:
        assert sync_seeds(context).number == newest(job).number
    parsed.clear()
    assert injected(job, plain).known == 50
    assert parsed.lines == 0, "other steps keep what is known"
    if with_directive:
        injected(job, ["-http://(example,site1,"])
    else:
        (job / "crawl.yaml").write_text(JOB.replace("/private/", "/page"))
    parsed.clear()
    other = injected(job, plain)
    assert parsed.judged == 50
    assert sum(other.outside.values()) == (7 if with_directive else 50)
    assert (other.known, other.new) == (50, 0)


@pytest.mark.parametrize("options", [{"overwrite": True}, {"update": True}, {"filter": False}])
@pytest.mark.slow
def test_options_that_concern_known_urls_parse_them(
    job: Path, parsed: Parsed, options: dict[str, bool]
):
    injected(job, ["http://a.example/", "http://b.example/"])
    parsed.clear()
    injected(job, ["http://a.example/", "http://b.example/"], **options)
    assert parsed.lines == 2


@pytest.mark.slow
def test_numbers_of_lines_and_lists_stay(job: Path, parsed: Parsed):
    plain = [f"http://site{n}.example/" for n in range(20)]
    injected(job, plain)
    found = injected(job, [*plain, "http://bad.example:x/"], [], ["", *plain, "http//odd/"])
    assert [(one.file, one.line) for one in found.malformed] == [("list-0", 21), ("list-2", 22)]
    assert (found.known, found.twice) == (20, 20)


@pytest.mark.slow
def test_lines_that_are_left_come_in_their_order(
    job: Path, parsed: Parsed, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(known_lines, "_PART", 2_048)
    monkeypatch.setattr(seedlist, "PORTION", 1_000)
    injected(job, ["http://site0.example/"])
    order: list[str] = []
    read = seedlist.read_numbered

    def noted(lines, file=""):
        pairs = list(lines)
        order.extend(f"{file}:{number}:{line}" for number, line in pairs)
        return read(pairs, file)

    monkeypatch.setattr("nacre.rounds.steps.inject.read_numbered", noted)
    lines = [
        f"http://site{n % 5}.example/{n}" if n % 3 else f"书{n}.example" for n in range(1, 9_000)
    ]
    lines[6] = "http://site0.example/"
    injected(job, lines, ["http://last.example/"])
    expected = [f"list-0:{n}:{line}" for n, line in enumerate(lines, 1) if n != 7]
    assert order == [*expected, "list-1:1:http://last.example/"]


@pytest.mark.slow
def test_two_spellings_of_a_known_page_count_once(job: Path, parsed: Parsed):
    injected(job, ["http://a.example/x"])
    again = injected(job, ["http://a.example/x", "HTTP://a.example/x", "http://a.example/x"])
    assert (again.seeds, again.known, again.twice) == (3, 1, 2)


@given(st.text(max_size=30))
def test_both_patterns_of_a_plain_line_agree(text: str):
    for line in (text, f"http://a.b/{text}"):
        if line.isascii():
            found = pc.match_substring_regex(pa.array([line]), PLAIN_LINE)[0].as_py()
            assert found is bool(seedlist._PLAIN.match(line))


@pytest.mark.slow
def test_lines_that_are_too_long_are_not_looked_up(job: Path, parsed: Parsed):
    long = ["http://a.example/" + "x" * known_lines._LONGEST, "http://b.example/" + "x" * 2_000]
    injected(job, long)
    parsed.clear()
    again = injected(job, [*long, "x" * 70_000])
    assert (again.known, again.malformed_count) == (1, 2)
    assert parsed.lines == 2
