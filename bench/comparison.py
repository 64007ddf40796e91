"""What it costs to compare a page with its last version: `python -m bench.comparison [PAGES]`.

Real pages of the benchmark site, each beside itself with one sentence added. Nothing of this
happens at the first visit of a page; from the second on, a page whose bytes differ is taken apart,
and so is the version before it. Prints CPU milliseconds for each page as JSON.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from bench.sites import PARTS
from nacre.core.pagerow import PageView
from nacre.extract.pageview import page_view
from nacre.planner.change_detection.change import ChangeClass, ChangeSettings, compare
from nacre.planner.change_detection.template import Template
from tools import debs

PAGES = 1_000
_LARGEST = 2_000_000
_ADDED = "<p>The deadline was moved from the first of May to the last of June.</p></body>"


def pages(roots: Sequence[Path], most: int) -> list[str]:
    """Return texts of pages evenly drawn from all pages below some folders."""
    files = sorted(path for root in roots for path in root.rglob("*.html") if path.is_file())
    texts = [
        path.read_text("utf-8", "replace") for path in files[:: max(1, len(files) // most)][:most]
    ]
    return [text for text in texts if "</body>" in text and len(text) <= _LARGEST]


def costs(texts: Sequence[str]) -> dict[str, float]:
    """CPU ms for each page of: taking one version apart, comparing two, learning of them."""
    edited = [text.replace("</body>", _ADDED, 1) for text in texts]
    before, apart_one = _apart(texts)
    after, apart_two = _apart(edited)
    template, settings = Template(), ChangeSettings()
    for view in before:
        template.learn_page(view)
    began = process_time()
    results = [
        compare(old, new, template, settings, listing=False)
        for old, new in zip(before, after, strict=True)
    ]
    compared = process_time() - began
    began = process_time()
    for old, new in zip(before, after, strict=True):
        template.learn_visit(old, new)
        template.learn_page(new, old)
    learned = process_time() - began
    ms_per_page = 1000.0 / max(1, len(texts))
    return {
        "pages": len(texts),
        "kb_each": round(sum(map(len, texts)) / max(1, len(texts)) / 1000, 1),
        "apart_ms": round((apart_one + apart_two) / 2 * ms_per_page, 3),
        "compare_ms": round(compared * ms_per_page, 3),
        "learn_ms": round(learned * ms_per_page, 3),
        "all_ms": round((apart_one + apart_two + compared + learned) * ms_per_page, 3),
        "found_changed": sum(
            result.kind in {ChangeClass.MINOR, ChangeClass.MAJOR} for result in results
        ),
    }


def _apart(texts: Sequence[str]) -> tuple[list[PageView], float]:
    began = process_time()
    views = [page_view(text) for text in texts]
    return views, process_time() - began


def main(most: int) -> None:
    """Measure, and print the costs."""
    roots = [debs.ensure(part.package) / part.root for part in PARTS]
    print(json.dumps(costs(pages(roots, most))))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PAGES)
