from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import pytest
from msgspec import structs

from nacre.archive.settings import WarcSettings
from nacre.core.capture import Trust
from nacre.core.crawluri import Directive
from nacre.core.history import HistoryRecord
from nacre.core.processor import Visit
from nacre.engine.prerequisites import ROBOTS_FOR
from nacre.engine.steps.archive import Prepared
from nacre.engine.steps.fetching import FRESH, UNCONDITIONAL
from nacre.engine.unasked import (
    MOST,
    UnaskedReplies,
    fresh,
    is_suspect,
    owed_rows,
    was_accused,
)
from nacre.frontier.frontier import Frontier
from nacre.store.store import Store
from tests.engine.supervising import NotingSupervisor
from tests.job.memory import answered
from tests.store.memory import MemoryEngine

URL = "http://a.test/x"
BEGAN = 1_795_168_800_123_456


@dataclass
class World:
    """The book with stand-ins for what it writes to."""

    store: Store = field(default_factory=lambda: Store(MemoryEngine()))
    frontier: Any = field(default_factory=lambda: Mock(spec=Frontier))
    archive: Any = field(default_factory=lambda: Mock(**{"writer.settings": WarcSettings()}))
    robots: Any = field(default_factory=Mock)

    def __post_init__(self) -> None:
        self.log, self.visit_done = Mock(), Mock()
        clock = Mock(now=lambda: 1_795_168_900.0)
        self.supervisor = NotingSupervisor()
        self.archive.history.get.return_value = HistoryRecord(
            URL, 200, BEGAN, BEGAN, "sha1:A", record_id="urn:uuid:1", etag=b"e"
        )
        self.book = UnaskedReplies(
            store=self.store,
            frontier=self.frontier,
            writer=self.archive.writer,
            history=self.archive.history,
            robots=self.robots,
            record_id=lambda: bytes(16),
            log=self.log,
            clock=clock,
            visit_done=self.visit_done,
            supervisor=self.supervisor,
        )

    def dispose(self, visit: Visit) -> None:
        self.book.disposed(visit, Prepared([Mock(id="urn:uuid:1")]))

    @property
    def scheduled(self) -> list[Any]:
        return [call.args[0][0] for call in self.frontier.schedule.call_args_list]


def visit(trust: Trust | None = None, url: str = URL, **heritable: str) -> Visit:
    made = answered(url, 200, b"x", (), **heritable)
    assert made.capture is not None
    made.capture.trust, made.capture.began = trust, BEGAN
    return made


def test_what_is_accused_is_noted_forgotten_and_fetched_again():
    world, trust = World(), Trust()
    world.dispose(visit(trust))
    assert not world.book.settle()
    trust.accuse()
    assert world.supervisor.asked == ["look"]
    assert not world.archive.writer.write.called, "nothing is written out of a callback"
    assert world.book.settle()
    ((record,),) = world.archive.writer.write.call_args.args
    assert record.url == URL
    assert record.prefix == b"suspect: unaskedReply\r\nannotations: suspect:unaskedReply\r\n"
    assert was_accused(world.store, "urn:uuid:1")
    assert not was_accused(world.store, "urn:uuid:2")
    assert b"WARC-Refers-To: <urn:uuid:1>\r\n" in record.head
    known = world.archive.history.put.call_args.args[0]
    assert (known.date, known.digest, known.etag) == (0, "", b"")
    (again,) = world.scheduled
    assert again.force_fetch
    assert again.heritable == {UNCONDITIONAL: "unaskedReply", FRESH: "1"}
    assert list(owed_rows(world.store)) == [again]
    assert not world.book.settle()


def test_what_was_fetched_again_meanwhile_is_not_forgotten():
    world, trust = World(), Trust()
    world.archive.history.get.return_value = HistoryRecord(URL, 200, BEGAN + 1, BEGAN + 1)
    world.dispose(visit(trust))
    trust.accuse()
    world.book.settle()
    assert not world.archive.history.put.called


def test_a_suspect_robots_txt_is_not_obeyed():
    world, trust = World(), Trust()
    world.dispose(visit(trust, **{ROBOTS_FOR: "http://a.test"}))
    trust.accuse()
    world.book.settle()
    world.robots.drop.assert_called_once_with("http://a.test")


@pytest.mark.parametrize(("status", "paid"), [(200, True), (404, True), (-9998, True), (-2, False)])
def test_what_is_owed_is_paid_by_a_reply_and_entered_until_then(status, paid):
    world, trust = World(), Trust()
    world.dispose(visit(trust))
    trust.accuse()
    world.book.settle()
    (again,) = world.scheduled
    other = visit()
    other.uri, other.status = again, status
    world.dispose(other)
    assert (list(owed_rows(world.store)) == []) is paid
    world.frontier.schedule.reset_mock()
    assert world.book.enter() == (0 if paid else 1)
    assert world.scheduled == ([] if paid else [again])


def test_a_url_is_not_fetched_again_for_ever():
    accused = Trust()
    accused.accuse()
    uri = visit().uri
    for number in range(MOST):
        seen = visit(accused)
        seen.uri = uri
        assert is_suspect(seen), number
        uri = fresh(uri)
    last = visit(accused)
    last.uri = uri
    assert not is_suspect(last)
    world = World()
    world.dispose(last)
    assert not world.book.settle()


def test_what_is_accused_before_it_is_stored_is_fetched_again_all_the_same():
    world, trust = World(), Trust()
    trust.accuse()
    world.dispose(visit(trust))
    assert world.supervisor.asked == ["look"]
    assert world.book.settle()
    (again,) = world.scheduled
    assert again.url == URL


@pytest.mark.parametrize("prepared", [None, Prepared(None), Prepared([])])
def test_what_was_not_written_is_fetched_again_without_a_note(prepared: Prepared | None):
    world, trust = World(), Trust()
    world.book.disposed(visit(trust), prepared)
    trust.accuse()
    assert world.book.settle()
    assert not world.archive.writer.write.called
    assert len(world.scheduled) == 1


def test_what_promises_nothing_goes_before_its_like_when_it_is_fetched_again():
    world, trust = World(), Trust()
    late = visit(trust)
    late.uri = structs.replace(late.uri, directive=Directive.ENDLESS)
    world.dispose(late)
    trust.accuse()
    world.book.settle()
    assert [uri.directive for uri in world.scheduled] == [Directive.NORMAL]


def test_a_visit_whose_reply_is_not_in_doubt_is_no_suspect():
    nothing = visit()
    nothing.capture = None
    assert not is_suspect(nothing)
    assert not is_suspect(visit(None))
    assert not is_suspect(visit(Trust()))
    world = World()
    world.dispose(nothing)
    world.dispose(visit(None))
    assert not world.book.settle()
    assert world.supervisor.asked == []
