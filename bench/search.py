"""The index of words: CPU of a page, time of a query, recall and precision.

    python -m bench.search [--pages 1500] [--queries 200] [--seed 1] [--gbk] [--large 1000000]

`--gbk` turns Chinese pages into GBK, which they then declare. `--large` makes an index of so many
pages of their lines, and asks it for the same phrases, too.

Pages are those of the documentation that `make webs` brings, English and Chinese. The truth is a
search through the text of every page, taken apart tag by tag, which the index does not do.
"""

import argparse
import random
import re
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from nacre.core.capture import BytesBody, Capture
from nacre.extract.pageview import page_view
from nacre.indexing.page_document import DocumentMaker, PageFacts
from nacre.search.analysis import fold
from nacre.search.document import SearchDocument, place_document
from nacre.search.local_index import LocalSearch, LocalWriter, SearchOptions
from nacre.search.query import parse_query
from nacre.search.settings import IndexSettings
from nacre.wire.charset import decode, detect
from tools.debs import CACHE

_HAN = re.compile(r"[\u4e00-\u9fff]{3,}")
_CHARSET = re.compile(r"""(?i)((?:<meta[^>]*?charset|<\?xml[^>]*?encoding)=["']?)[\w-]+""")
_FIRST = b"<p>Language models are read when a text asks for them: this one does. 1 2 3"
_HEADERS = ((b"Content-Type", b"text/html"),)
_NOSCRIPT = re.compile(r"(?is)<noscript.*?</noscript>")
_TEXTS = frozenset(("title", "heading", "text", "nav"))
_WORDS = re.compile(r"[a-z]{2,}(?: [a-z]{2,}){1,3}")


def cpu() -> float:
    """CPU time of this process and its children that ended, s."""
    usages = [
        resource.getrusage(process) for process in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def pages(most: int, chance: random.Random) -> list[Path]:
    """Files in HTML, half of them of Chinese packages where there are as many."""
    files = sorted(file for file in CACHE.rglob("*.html") if file.is_file())
    chinese = [file for file in files if "zh" in str(file).lower()]
    other_files = [file for file in files if "zh" not in str(file).lower()]
    chance.shuffle(chinese)
    chance.shuffle(other_files)
    half = min(len(chinese), most // 2)
    return chinese[:half] + other_files[: most - half]


def in_gbk(files: list[Path], folder: Path) -> list[Path]:
    """Copies of the Chinese pages in GBK, which say that it is their encoding; others as they are.

    What GBK does not have is a character reference. A page without a declaration has none
    afterwards: its bytes alone tell.
    """
    files_made = []
    for number, file in enumerate(files):
        body = file.read_bytes()
        text = decode(body, detect(body, None)[0])
        if not _HAN.search(text):
            files_made.append(file)
            continue
        files_made.append(folder / f"{number}.html")
        files_made[-1].write_bytes(_CHARSET.sub(r"\1gbk", text).encode("gbk", "xmlcharrefreplace"))
    count = sum(file_made.parent == folder for file_made in files_made)
    print(f"{count:,} of {len(files):,} pages are in GBK")
    return files_made


def measured(files: list[Path], folder: Path) -> None:
    """Index the files, and print what a page takes, without what one page alone takes.

    That is the start of the helper process, and of its model of languages: once in a run.
    """
    bodies = [file.read_bytes() for file in files]
    started = cpu()
    indexed([_FIRST], folder.with_name("one"))
    between, wall = cpu(), time.monotonic()
    size = indexed([_FIRST, *bodies], folder)
    used = (cpu() - between - (between - started)) * 1000 / len(files)
    wall = (time.monotonic() - wall) * 1000 / len(files)
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    mean = size / len(files)
    print(f"start: {between - started:.2f} s of CPU")
    print(
        f"index: {len(files):,} pages of {mean / 1000:.1f} kB: {used:.2f} ms of CPU a page "
        f"({used / mean * 30_000:.2f} ms for 30 kB), {wall:.2f} ms of time, "
        f"{disk / size:.2f} bytes a byte of HTML"
    )


def indexed(bodies: list[bytes], folder: Path) -> int:
    """Index pages, the first of which is `-1`; their size, bytes."""
    writer = LocalWriter(folder)
    writer.open()
    urls = [f"http://docs.test/{number}" for number in range(-1, len(bodies) - 1)]
    stored = dict(zip(urls, bodies, strict=True))

    def read(page: PageFacts) -> Capture:
        body = stored[page.key]
        return Capture(
            url=page.key, request=b"", head=b"", status=200, headers=_HEADERS,
            body=BytesBody(body), payload_length=len(body),
        )  # fmt: skip

    facts = [PageFacts(key=url, mime="text/html") for url in urls]
    with DocumentMaker(IndexSettings(), "nacre") as maker:
        batch = []
        for url, document in zip(urls, maker.documents(facts, read), strict=True):
            if isinstance(document, str):
                print(f"{url}: {document}")
                continue
            batch.append(document)
            if len(batch) == 100:
                writer.write(batch)
                batch = []
        writer.write(batch)
    writer.commit()
    writer.close()
    return sum(map(len, bodies))


def texts(files: list[Path]) -> list[str]:
    """Return the text of each file, folded, with separate blocks, as a browser shows it."""
    result = []
    for file in files:
        body = file.read_bytes()
        page = _NOSCRIPT.sub("", decode(body, detect(body, None)[0]))
        blocks = [piece.text for piece in page_view(page).pieces if piece.kind in _TEXTS]
        result.append(" | ".join(re.sub(r"\s+", " ", fold(text)) for text in blocks))
    return result


def draw_phrases(texts_known: list[str], number: int, chance: random.Random) -> list[str]:
    """Return phrases of the texts, half of them Chinese."""
    phrases: list[str] = []
    for chinese in (True, False):
        missing = number // 2
        while missing:
            places = (_HAN if chinese else _WORDS).findall(chance.choice(texts_known))
            if not places:
                continue
            phrase = chance.choice(places)
            if chinese:
                length = min(len(phrase), chance.randint(2, 6))
                start = chance.randint(0, len(phrase) - length)
                phrase = phrase[start : start + length]
            phrases.append(phrase)
            missing -= 1
    return phrases


def truth(phrase: str, texts_known: list[str]) -> set[str]:
    """Return the URLs of the texts that have a phrase; words as whole ones."""
    if _HAN.match(phrase) or not phrase.isascii():
        return {f"http://docs.test/{n}" for n, text in enumerate(texts_known) if phrase in text}
    whole = re.compile(rf"(?<![^\W_]){re.escape(phrase)}(?![^\W_])")
    return {
        f"http://docs.test/{n}"
        for n, text in enumerate(texts_known)
        if phrase in text and whole.search(text)
    }


def searched(folder: Path, texts_known: list[str], phrases: list[str]) -> None:
    """Search the phrases, and print times, recall and precision."""
    search = LocalSearch(folder)
    took, recalls, precisions = [], [], []
    for phrase in phrases:
        query = parse_query(f'"{phrase}"')
        began = time.perf_counter()
        search.search(query, SearchOptions())
        took.append((time.perf_counter() - began) * 1000)
        every = search.search(query, SearchOptions(limit=len(texts_known)))
        ids = {hit.document.id for hit in every.hits}
        there = truth(phrase, texts_known)
        matched = len(ids & there)
        recalls.append(matched / len(there) if there else 1.0)
        precisions.append(matched / len(ids) if ids else 1.0)
        if recalls[-1] < 1 or precisions[-1] < 0.9:
            missing, more = sorted(there - ids)[:2], sorted(ids - there)[:2]
            print(f"{phrase!r}: {matched} of {len(there)}, found {len(ids)}: {missing} {more}")
    cuts = statistics.quantiles(took, n=100)
    print(
        f"search: {len(phrases)} phrases among {search.documents:,} pages: median {cuts[49]:.1f} "
        f"ms, p95 {cuts[94]:.1f} ms, with ten snippets each"
    )
    print(
        f"quality: recall {statistics.mean(recalls):.4f}, precision "
        f"{statistics.mean(precisions):.4f}"
    )


def large(texts_known: list[str], number: int, folder: Path, chance: random.Random) -> None:
    """Make an index of pages of 3 to 20 blocks of the texts, every other one Chinese."""
    blocks = [
        excerpt[:400] for text in texts_known for excerpt in text.split(" | ") if len(excerpt) >= 20
    ]
    kinds = [
        [block for block in blocks if bool(_HAN.search(block)) is chinese]
        for chinese in (False, True)
    ]
    writer = LocalWriter(folder)
    writer.open()
    batch = []
    for count in range(1, number + 1):
        lines = kinds[count % 2]
        url = f"http://h{count % 5_000}.example.org/{count}"
        body = "\n".join(chance.choices(lines, k=chance.randint(3, 20)))
        excerpt = SearchDocument(
            id=url, url=url, title=chance.choice(lines)[:40], content=body, type="text/html",
            tstamp=1_700_000_000_000 + count * 60_000, boost=1 + chance.random(),
        )  # fmt: skip
        batch.append(place_document(excerpt))
        if len(batch) == 100 or count == number:
            writer.write(batch)
            batch = []
        if count % 20_000 == 0:
            writer.commit()
    writer.commit()
    writer.close()


def timed(folder: Path, phrases: list[str]) -> None:
    """Ask for phrases in several ways, and print the CPU and the time of a query."""
    search = LocalSearch(folder)
    facets = SearchOptions(facets=("site", "type", "lang"))
    plain, newest = SearchOptions(), SearchOptions(newest=True)
    quoted = [f'"{phrase}"' for phrase in phrases]
    characters = [phrase[0] for phrase in phrases if _HAN.match(phrase)]
    for name, queries, options in (
        ("phrases", quoted, plain), ("phrases again", quoted, plain),
        ("words", [phrase for phrase in phrases if " " in phrase], plain),
        ("one character", characters, plain), ("newest", quoted, newest),
        ("three facets", quoted, facets),
    ):  # fmt: skip
        took = []
        for query in queries:
            began, used = time.perf_counter(), time.process_time()
            search.search(parse_query(query), options)
            took.append((time.process_time() - used, time.perf_counter() - began))
        cpu_cuts, cuts = (
            statistics.quantiles([pair[at] * 1000 for pair in took], n=100) for at in (0, 1)
        )
        print(
            f"{search.documents:,} pages, {name}: CPU median {cpu_cuts[49]:.1f} ms, p95 "
            f"{cpu_cuts[94]:.1f} ms; time median {cuts[49]:.1f} ms, p95 {cuts[94]:.1f} ms"
        )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_500)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gbk", action="store_true")
    parser.add_argument("--large", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    files = pages(options.pages, chance)
    folder = Path(tempfile.mkdtemp(prefix="bench-search-"))
    try:
        if options.gbk:
            (folder / "gbk").mkdir()
            files = in_gbk(files, folder / "gbk")
        measured(files, folder / "search")
        texts_known = texts(files)
        phrases = draw_phrases(texts_known, options.queries, chance)
        searched(folder / "search", texts_known, phrases)
        if options.large:
            large(texts_known, options.large, folder / "large", chance)
            timed(folder / "large", phrases)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
