"""The pages of comparison and citation, and their REST paths."""

from pathlib import Path
from urllib.parse import quote

from nacre.console.reader_tasks import READER_TASKS
from tests.console.given import GivenConsole, play
from tests.ops.test_compare import DAYS, page
from tests.replay.archives import URL, Archive

J = "/j/crawls~demo"
API = "/api/v1/jobs/crawls~demo"
EVIL = '<script>alert(1)</script>"\u202e\x1b[2J'
URN = "urn:uuid:00000000-0000-4000-8000-000000000001"


def add_job(folder: Path) -> Archive:
    """A job with three captures, without a store."""
    archive = Archive(folder / "crawls" / "demo")
    archive.add(
        page("<a href=/a>A</a> 旧版本", DAYS[0], Record_ID=f"<{URN}>"),
        page("<a href=/b>A</a> 新版本", DAYS[1]),
        page("<a href=/b>A</a> 新版本 &lt;script>alert(1)&lt;/script> " + "x" * 900, DAYS[2]),
    )
    return archive


def test_two_captures_are_compared(tmp_path: Path):
    add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        console.client.headers.update(console.as_session())
        empty = await console.client.get(f"{J}/compare")
        assert empty.status_code == 200
        assert 'name="u"' in empty.text
        whole = await console.client.get(f"{J}/compare", params={"u": URL})
        assert f"<option selected>{DAYS[1]}" in whole.text
        for heading in ("Text", "Source", "Headers", "Links"):
            assert f">{heading}</h2>" in whole.text
        assert "<script>alert" not in whole.text
        assert "&lt;script&gt;alert(1)" in whole.text
        query = {"u": URL, "a": DAYS[0], "b": DAYS[1], "section": "links"}
        links = await console.client.get(f"{J}/compare", params=query)
        assert "http://h.test/b" in links.text
        assert ">Source</h2>" not in links.text
        assert "section=source" in links.text
        answer = await console.client.get(f"{API}/compare", params={"u": URL, "a": DAYS[0]})
        assert answer.json()["old"]["date"] == DAYS[0]
        assert answer.json()["dates"] == DAYS

    play(tmp_path, scene)


def test_mistakes_are_named(tmp_path: Path):
    add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        console.client.headers.update(console.as_session())
        for path in (f"{J}/compare", f"{J}/cite"):
            none = await console.client.get(path, params={"u": "http://none.test/<b>"})
            assert none.status_code == 200
            assert "no capture" in none.text
            assert "<b>" not in none.text
            control = await console.client.get(path, params={"u": EVIL})
            assert control.status_code in (400, 422)
        wrong = await console.client.get(f"{API}/compare", params={"u": URL, "a": "soon"})
        assert (wrong.status_code, "no time" in wrong.json()["detail"]) == (409, True)

    play(tmp_path, scene)


def test_a_capture_is_cited_and_found_by_its_urn(tmp_path: Path):
    add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        console.client.headers.update(console.as_session())
        assert 'name="urn"' in (await console.client.get(f"{J}/cite")).text
        cited = await console.client.get(f"{J}/cite", params={"u": URL, "at": DAYS[0]})
        for text in (URN, "@misc{", "TY  - ELEC", "urn:pwid:demo:2026-11-20T10:00:00Z:page:"):
            assert text in cited.text
        for urn in (URN, f"urn:pwid:demo:{DAYS[0]}:page:{URL}"):
            answer = await console.client.get(f"{API}/citation?urn={quote(urn)}")
            assert answer.json()["citation"]["date"] == DAYS[0]
            assert set(answer.json()["texts"]) == {"text", "bibtex", "ris", "csl"}

    play(tmp_path, scene)


def test_the_warcs_are_read_for_a_urn_by_a_process_for_long_tasks(tmp_path: Path):
    add_job(tmp_path)

    async def scene(console: GivenConsole) -> None:
        console.client.headers.update(console.as_session())
        times = console.parts.common.readers.times
        missing = URN.replace("1", "f")
        for path, field in ((f"{API}/citation", "u"), (f"{J}/cite", "u"), (f"{J}/cite", "urn")):
            answer = await console.client.get(path, params={field: missing.upper()})
            assert "no record of demo has the id" in answer.text
        assert set(times) == {"cite-record"}
        await console.client.get(f"{API}/citation", params={"urn": "urn:pwid:x"})
        await console.client.get(f"{API}/citation", params={"u": URL})
        assert set(times) == {"cite-record", "cite-capture"}
        assert "cite-record" in READER_TASKS.long
        assert "cite-capture" not in READER_TASKS.long

    play(tmp_path, scene)
