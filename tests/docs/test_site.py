"""The site of docs/: its links, its navigation and the words of its search; Sphinx is not run."""

from itertools import pairwise
from pathlib import Path

import pytest

from tools.docs_site import pages, words

ROOT = pages.ROOT


def test_links_and_anchors_exist():
    assert pages.find_broken_links(ROOT) == []


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a page of each place."""
    for folder in ("docs/zh", "examples/plugin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "README.md").write_text("# Nacre\n\n[list](docs/index.md#learn)\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    (tmp_path / "examples" / "plugin" / "a.py").write_text("A = 1\n")
    (tmp_path / "docs" / "index.md").write_text(
        "# List\n\n[no part](a.md)\n\n## Learn\n\n[read me](../README.md), [a](a.md)\n\n"
        "## Look up\n\n[a](a.md#two-words-2), [zh](zh/index.md), [new](../CHANGELOG.md)\n"
    )
    (tmp_path / "docs" / "a.md").write_text(
        "# A\n\n## Two words: `2`!\n\n[plugin](../examples/plugin), [file](../examples/plugin/a.py)"
        "\n\n    [code](no.md)\n\n```\n## No heading\n[code](no.md)\n```\n`[code](no.md)`\n"
    )
    (tmp_path / "docs" / "zh" / "index.md").write_text(
        "# 入门\n\n## 术语\n\n[up](../a.md) [b](#术语)\n"
    )
    return tmp_path


def test_a_checkout_without_a_fault_has_no_broken_link(checkout: Path):
    assert pages.find_broken_links(checkout) == []


@pytest.mark.parametrize(
    ("text", "target", "anchor"),
    [
        ("[x](no.md)", "no.md", ""),
        ("![x](pictures/no.webp)", "pictures/no.webp", ""),
        ("[x](zh/index.md#no)", "zh/index.md", "no"),
        ("[x](#no-heading)", "", "no-heading"),
        ("[x](../../outside.md)", "../../outside.md", ""),
    ],
)
def test_a_broken_link_is_found(checkout: Path, text: str, target: str, anchor: str):
    page = checkout / "docs" / "a.md"
    page.write_text(page.read_text() + f"\n{text}\n")
    assert pages.find_broken_links(checkout) == [pages.Link("docs/a.md", target, anchor)]


def test_headings_go_one_level_down_at_a_time():
    """Sphinx refuses a page that leaves out a level."""
    for page in pages.list_pages(ROOT):
        levels = pages.list_levels((ROOT / page).read_text("utf-8"))
        assert levels[0] == 1, page
        assert all(after <= before + 1 for before, after in pairwise(levels)), page


def test_headings_with_one_text_have_anchors_of_their_own():
    assert pages.list_anchors("# A b\n## A b\n### A b\n") == {"a-b", "a-b-1", "a-b-2"}


def test_the_assembled_folder_is_whole(checkout: Path, tmp_path: Path):
    site = tmp_path / "site"
    pages.assemble(checkout, site)
    assert "[list](index.md#learn)" in (site / "readme.md").read_text()
    assert "plugin, [file](examples/plugin/a.py)" in (site / "a.md").read_text()
    assert "[up](../a.md)" in (site / "zh" / "index.md").read_text()
    index = (site / "index.md").read_text()
    assert "[read me](readme.md), [a](a.md)" in index
    assert ":caption: Learn\n\nreadme\na\n" in index
    assert ":caption: Look up\n\nzh/index\nchanges\n" in index


def test_each_page_is_in_the_navigation(tmp_path: Path):
    site = tmp_path / "site"
    pages.assemble(ROOT, site)
    sections = pages.read_navigation((site / "index.md").read_text())
    listed = [page for section in sections.values() for page in section]
    there = {str(path.relative_to(site)) for path in site.rglob("*.md")}
    there = {name for name in there if not name.startswith("examples/")}
    assert len(sections) >= 5
    assert sorted(listed) == sorted(there - {"index.md"})


def test_chinese_is_indexed_by_pairs_and_english_by_words():
    assert words.split_words("用WARC归档 crawl_log, v2") == [
        "用", "WARC", "归", "档", "归档", "crawl_log", "v2",
    ]  # fmt: skip
    assert {"国家", "家图", "图书", "书馆"} <= set(words.split_words("国家图书馆的通知"))
