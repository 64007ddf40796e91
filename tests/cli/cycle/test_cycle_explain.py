"""Why a URL is as it is: pages that say that they are missing, and redirects, on loopback."""

import json
from pathlib import Path

import pytest

from tests.cli.site import ServedPage, nacre, site

pytestmark = pytest.mark.crawl

MISSING = "<title>404 Not Found</title><h1>Page not found</h1><p>This page does not exist.</p>"
PAGES: dict[str, ServedPage] = {
    "/": "".join(f'<a href="{one}">x</a>' for one in ("soft", "old", "out", "hard", "new", "back")),
    "/soft": MISSING,
    "/old": (301, "/new"),
    "/out": (302, "http://elsewhere.test/%E4%B9%A6"),
    "/back": (302, "/shut/%E4%B9%A6"),
    "/new": "<p>new",
}


REFUSED = ("--exclude", ".*/shut/.*")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A directory with two rounds, and the home page of its site."""
    root = tmp_path_factory.mktemp("cycle") / "书"
    with site(PAGES) as home:
        done = nacre("cycle", str(root), "-s", home, "--rounds", "2", "--delay", "0", *REFUSED)
    assert done.code == 0, done.err
    return root, home


def explained(crawled: tuple[Path, str], name: str) -> list[str]:
    root, home = crawled
    done = nacre("cycle", str(root), "explain", f"{home}{name}")
    assert done.code == 0, done.err
    return [line.strip() for line in done.out.splitlines()]


def test_a_page_that_says_that_it_is_missing(crawled: tuple[Path, str]):
    said = (
        "why it is gone: its page says with status 200 that it is missing (a soft 404); "
        "cycle.update.soft_404 is "
    )
    assert f"{said}gone, and with success it would count as fetched" in explained(crawled, "soft")
    config = crawled[0] / "crawl.yaml"
    text = config.read_text()
    try:
        config.write_text(f"{text}\ncycle: {{update: {{soft_404: success}}}}\n")
        after = f"{said}success now, so that its next visit counts as fetched"
        assert after in explained(crawled, "soft")
    finally:
        config.write_text(text)
    for name in ("", "new", "hard"):
        assert not any("why it is" in line for line in explained(crawled, name))


def test_a_user_who_cannot_read_the_secrets_gets_an_explanation(crawled: tuple[Path, str]):
    config = crawled[0] / "crawl.yaml"
    text = config.read_text()
    try:
        config.write_text(
            f"{text}\nidentity: {{key: {{file: no.pem}}, directory: https://b.test}}\n"
        )
        assert any("db_gone" in line for line in explained(crawled, "hard"))
        assert nacre("cycle", str(crawled[0]), "generate").code == 2
    finally:
        config.write_text(text)


def test_the_target_of_a_redirect_and_what_is_known_of_it(crawled: tuple[Path, str]):
    root, home = crawled
    [line] = [one for one in explained(crawled, "old") if "redirects" in one]
    assert line.startswith(f"redirects to {home}new, which is db_fetched, status 200; next fetch 2")
    [line] = [one for one in explained(crawled, "out") if "redirects" in one]
    target = "http://elsewhere.test/%E4%B9%A6"
    assert line.startswith(f"redirects to {target}, which is db_unfetched; next fetch 2")
    [line] = [one for one in explained(crawled, "back") if "redirects" in one]
    target = f"{home}shut/%E4%B9%A6"
    known, refused = line.split("; ")
    assert known == f"redirects to {target}, which is not known"
    rule = refused.removeprefix("the rules refuse it: ")
    found = json.loads(nacre("cycle", str(root), "explain", f"{home}back", "--json").out)
    assert found["redirect"] == {"url": target, "row": None, "refusal": rule}
    for name in ("", "new", "hard", "soft"):
        assert not any("redirects" in one for one in explained(crawled, name))


def test_the_scores_of_a_url_and_what_sorts_lists(crawled: tuple[Path, str], tmp_path: Path):
    root, home = crawled
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(f"{home}own\tnutch.score=5\n")
    done = nacre("cycle", str(root), "inject", str(seeds))
    said = "1 seed, 1 new; scores of 1 seed are in the column cash (cycle.scoring)\n"
    assert done.out == said, done.err
    assert "score 0, cash 5; lists are sorted by cash (cycle.scoring)" in explained(crawled, "own")
