import asyncio

from nacre.web.live.hub import ViewerHub


def test_a_viewer_is_told_once_what_changed_however_often_it_did():
    async def scene() -> None:
        hub = ViewerHub()
        with hub.viewing(["jobs", "job:a"]) as viewer, hub.viewing(["job:b"]) as other:
            for _ in range(100):
                hub.changed("jobs")
            hub.changed("job:a")
            assert await viewer.changes(9.0) == frozenset(("jobs", "job:a"))
            assert await viewer.changes(0.0) == frozenset()
            assert await other.changes(0.0) == frozenset()
            assert hub.streams == 2
        assert hub.streams == 0

    asyncio.run(scene())


def test_what_is_sent_is_made_once_for_all_until_the_topic_changes():
    hub, made = ViewerHub(), []

    def make() -> bytes:
        made.append(1)
        return b"%d" % len(made)

    with hub.viewing(["jobs"]):
        assert [hub.render("jobs", key, make) for key in "aab"] == [b"1", b"1", b"2"]
        hub.changed("jobs")
        assert hub.render("jobs", "a", make) == b"3"
    # Nothing is kept for nobody.
    assert hub.render("jobs", "a", make) == b"4"
    assert hub.render("jobs", "a", make) == b"5"


def test_all_viewers_go_when_the_console_ends():
    async def scene() -> None:
        hub = ViewerHub()
        with hub.viewing(["jobs"]) as viewer:
            hub.close()
            assert await viewer.changes(9.0) is None
        with hub.viewing(["jobs"]) as late:
            assert await late.changes(9.0) is None

    asyncio.run(scene())
