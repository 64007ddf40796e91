"""Jobs at rest whose frontiers are full, for tests."""

from pathlib import Path

from tests.cli.site import nacre

GBK = "http://gbk.test/%D6%D0%B9%FA/%CE%C4.html"
UTF_8 = "http://utf.test/%E4%B8%AD%E5%9B%BD/%E6%96%87.html"
URLS = (
    *(f"http://a.example.test/calendar/{day}" for day in range(40)),
    "http://a.example.test/docs/1.html",
    "http://a.example.test/docs/2.html?x=1",
    "http://b.example.test/",
    GBK,
    UTF_8,
)
"""The URIs that wait in `add_waiting_job`; its seed waits too."""


def add_waiting_job(folder: Path, name: str = "demo") -> Path:
    """A job below `folder/crawls` in whose frontier `URLS` wait."""
    job = folder / "crawls" / name
    assert nacre("new", job, "http://127.0.0.1:9/").code == 0
    lines = folder / f"{name}.txt"
    lines.write_text("\n".join(URLS) + "\n")
    assert nacre("frontier", job, "import", lines).code == 0
    return job
