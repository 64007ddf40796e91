from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.states import ExitStatus
from nacre.core.status import FetchStatus
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.outcomes import Outcomes
from nacre.job.readmission import READMITTED, readmitted_files, readmitted_lines, takes_back
from nacre.runs.runs import RunRow, write_run
from nacre.scope.patterns.matching import any_text, matcher
from nacre.scope.subject import Subject
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

A = "http://a.test/"


def test_what_was_deleted_and_what_was_refused_comes_back():
    store = Store(MemoryEngine())
    outcomes, refused = Outcomes(store), RejectedUris(store)
    for name, status in (("cal/1", FetchStatus.DELETED), ("cal/old/2", FetchStatus.DELETED),
                         ("cal/3", 200)):  # fmt: skip
        uri = CrawlURI(A + name, name.encode(), "", via=A, path="L")
        outcomes.put(Visit(uri, status=status))
    refused.add(b"4", Subject(f"{A}cal/4", "LL", A), "matches-list-regex")
    refused.add(b"5", Subject(f"{A}other/5", "LL", A), "too-many-hops")
    urls = matcher("/cal/")
    assert list(readmitted_lines(store, "refused", urls)) == [f"F+ {A}cal/4 LL {A}"]
    back = [f"F+ {A}cal/1 L {A}", f"F+ {A}cal/old/2 L {A}"]
    assert list(readmitted_lines(store, "deleted", urls)) == back
    assert list(readmitted_lines(store, "deleted", urls, ["/old/"])) == back[:1]
    assert list(readmitted_lines(store, "deleted", any_text, ["^x$"])) == back
    assert set(READMITTED) == {"deleted", "refused"}


def test_what_comes_back_is_in_files_while_it_is_imported():
    store = Store(MemoryEngine())
    outcomes = Outcomes(store)
    uri = CrawlURI(f"{A}cal/馆", b"1", "", via=A, path="L")
    outcomes.put(Visit(uri, status=FetchStatus.DELETED))

    class Look(NamedTuple):
        store: Store

    looks = list[bool]()

    @contextmanager
    def look() -> Iterator[Look]:
        looks.append(True)
        yield Look(store)
        looks.append(False)

    files = list[Path]()
    for path, options in readmitted_files(look, any_text):
        assert not looks[-1]
        assert path.read_text("utf-8") == f"F+ {A}cal/馆 L {A}\n"
        assert options == READMITTED["deleted"]
        files.append(path)
    (file,) = files  # of what was refused there is nothing
    assert not file.exists()


def test_only_a_run_that_can_be_gone_on_with_takes_urls_back():
    store = Store(MemoryEngine())
    assert not takes_back(store)
    for exit_, closed, back in (
        (ExitStatus.ABORTED, False, True), (ExitStatus.DOCUMENT_LIMIT, False, True),
        (ExitStatus.FINISHED, False, False), (ExitStatus.ABORTED, True, False),
    ):  # fmt: skip
        write_run(store, RunRow("r", 1, 0.0, exit=exit_, closed=closed))
        assert takes_back(store) == back, exit_
