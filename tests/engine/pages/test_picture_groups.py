"""Pictures that are passed on in groups: what is held, until when, and that no byte is lost."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.engine.pages.picture_groups import LARGEST, GroupedPicture, PictureGroups
from tests.engine.pages.renderer import CollectedReply

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
LONG = 3600.0
"""A gap with which a picture is held for the longest time."""


class Groups(PictureGroups):
    """Groups with one picture that waits for its turn, and those that came."""

    def __init__(self, gap: float = LONG) -> None:
        super().__init__(gap)
        self.replies: list[CollectedReply] = []
        self.begin_wait()

    def receive(self, *parts: bytes, ends: bool = True) -> GroupedPicture:
        self.replies.append(CollectedReply())
        picture = GroupedPicture(self.replies[-1], self)
        picture.begin(200, HEAD, "length")
        for part in parts:
            picture.write(part)
        if ends:
            picture.end()
        return picture


def test_pictures_are_held_until_none_waits_for_its_turn():
    async def run() -> None:
        groups = Groups()
        groups.begin_wait()
        first, second = groups.receive(b"one", b"1"), groups.receive("二".encode())
        assert first.has_begun
        groups.end_wait()
        assert not any(reply.has_begun for reply in groups.replies)
        groups.end_wait()
        await asyncio.gather(first.wait(), second.wait())
        assert [reply.body for reply in groups.replies] == [b"one1", "二".encode()]
        assert {(reply.head, reply.ended) for reply in groups.replies} == {(HEAD, "end")}

    asyncio.run(run())


def test_picture_is_passed_on_after_a_time_though_others_wait():
    async def run() -> None:
        groups = Groups(gap=0.001)
        await groups.receive(b"one").wait()
        assert groups.is_holding
        assert groups.replies[0].ended == "end"
        await groups.receive(b"two").wait()
        assert groups.replies[1].ended == "end"

    asyncio.run(run())


@pytest.mark.parametrize(("gap", "waits"), [(0.0, True), (LONG, False)])
def test_picture_is_not_held_without_a_gap_or_if_no_other_waits(gap: float, waits: bool):
    async def run() -> None:
        groups = Groups(gap)
        if not waits:
            groups.end_wait()
        picture = groups.receive(b"one")
        assert groups.replies[0].ended == "end"
        await picture.wait()

    asyncio.run(run())


def test_large_picture_is_passed_on_as_it_comes():
    async def run() -> None:
        groups = Groups()
        picture = groups.receive(b"x" * LARGEST, ends=False)
        (reply,) = groups.replies
        assert not reply.has_begun
        picture.write(b"y")
        assert reply.body == b"x" * LARGEST + b"y"
        picture.write(b"z")
        picture.end()
        assert reply.body.endswith(b"yz")
        assert reply.ended == "end"
        await picture.wait()

    asyncio.run(run())


def test_endless_picture_is_passed_on_before_its_end():
    async def run() -> None:
        groups = Groups(gap=0.001)
        picture = groups.receive(b"frame", ends=False)
        await groups.receive(b"whole").wait()
        endless, _ = groups.replies
        assert (endless.body, endless.ended) == (b"frame", "")
        picture.write(b"next")
        assert endless.body == b"framenext"

    asyncio.run(run())


def test_picture_that_is_cut_is_passed_on_as_far_as_it_came():
    async def run() -> None:
        groups = Groups()
        groups.receive(b"half", ends=False).refuse()
        (reply,) = groups.replies
        assert (reply.body, reply.ended) == (b"half", "refused")
        groups.end_wait()
        assert reply.ended == "refused"

    asyncio.run(run())


def test_refusal_before_the_head_sends_nothing():
    async def run() -> None:
        reply = CollectedReply()
        GroupedPicture(reply, Groups()).refuse()
        assert (reply.head, reply.ended) == (b"", "refused")

    asyncio.run(run())


def test_request_that_is_cancelled_does_not_stop_the_others():
    async def run() -> None:
        groups = Groups()
        first, second = groups.receive(b"one"), groups.receive(b"two")
        waiting = asyncio.ensure_future(first.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        groups.end_wait()
        await second.wait()
        assert groups.replies[1].ended == "end"

    asyncio.run(run())


@given(
    pictures=st.lists(st.lists(st.binary(max_size=40_000), max_size=4), min_size=1, max_size=5),
    pauses=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_all_bytes_arrive_in_their_order(pictures: list[list[bytes]], pauses: list[bool]):
    async def run() -> None:
        groups = Groups()
        for parts, pause in zip(pictures, pauses, strict=False):
            groups.receive(*parts)
            if pause:
                groups.end_wait()
                groups.begin_wait()
        groups.end_wait()
        assert [reply.body for reply in groups.replies] == [b"".join(p) for p in pictures]
        assert {reply.ended for reply in groups.replies} == {"end"}

    asyncio.run(run())
