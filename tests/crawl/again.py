"""A site that is crawled, edited by a script that records what it did, and crawled again."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvloop

from nacre.archive.reader import WarcReader
from nacre.job.job import Job
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.runs.runs import plan_run
from nacre.scope.rules.stock import rules_for
from nacre.scope.seed_scope import ScopeKind
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

DAY = 86_400.0
_END = r"(?i)(?=</body>)|\Z"


class Later(SystemClock):
    """The machine's clock, some days ahead."""

    def __init__(self, days: float) -> None:
        super().__init__()
        self._ahead = days * DAY

    def now(self) -> float:
        return super().now() + self._ahead


@dataclass
class Edits:
    """What the script did, by file."""

    text: set[str] = field(default_factory=set)
    markup: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)

    @property
    def differing(self) -> set[str]:
        """Files whose bytes are others, the new ones too."""
        return self.text | self.markup | self.added


class Site:
    """A copy of a folder of pages, to be edited."""

    def __init__(self, source: Path, root: Path) -> None:
        shutil.copytree(source, root, symlinks=False)
        self.root = root
        self.done = Edits()

    def pages(self, pattern: str) -> list[str]:
        """Names of pages, in order, that no edit has touched."""
        touched = self.done.differing | self.done.removed
        return [p.name for p in sorted(self.root.glob(pattern)) if p.name not in touched]

    def say_more(self, name: str, text: str) -> None:
        """Another paragraph at the end of a page."""
        self._replace(name, _END, f"<p>{text}</p>\n")
        self.done.text.add(name)

    def reword(self, name: str, old: str, new: str) -> None:
        """Other words in a page."""
        self._replace(name, re.escape(old), new)
        self.done.text.add(name)

    def comment(self, name: str) -> None:
        """Bytes that nobody sees."""
        self._replace(name, _END, "<!-- made by another version -->\n")
        self.done.markup.add(name)

    def add(self, name: str, linked_from: str) -> None:
        """A new page, and a link to it."""
        body = f"<h1>{name}</h1><p>A page about {name} that was not there before.</p>"
        text = f"<html><head><title>{name}</title></head><body>{body}</body></html>"
        (self.root / name).write_text(text)
        self.done.added.add(name)
        link = f'<a href="{name}">this page</a>'
        self.say_more(
            linked_from, f"What was left out here so far is explained at length in {link}."
        )

    def remove(self, name: str) -> None:
        """A page goes; links to it stay."""
        (self.root / name).unlink()
        self.done.removed.add(name)

    def _replace(self, name: str, pattern: str, by: str) -> None:
        path = self.root / name
        text = path.read_text("latin-1")
        changed = re.sub(pattern, lambda _: by, text, count=1)
        assert changed != text, (name, pattern)
        path.write_text(changed, "latin-1")


@dataclass(frozen=True)
class Kept:
    """What one run stored, from its WARCs alone: URL to WARC-Date and status, or its note."""

    run: Path
    responses: dict[str, tuple[str, int]]
    revisits: dict[str, str]
    notes: dict[str, str]
    verdicts: dict[str, str]

    @property
    def dates(self) -> dict[str, str]:
        """Of each URL with a response or revisit, when."""
        return {url: date for url, (date, _) in self.responses.items()} | self.revisits


def settings(seed: str, **more: Any) -> JobSettings:
    plan = {
        "seeds": [seed],
        "scope": [rule.model_dump() for rule in rules_for(ScopeKind.HOST)],
        "politeness": {"delay": 0, "in_flight": 8},
        "frontier": {"max_retries": 1},
        "network": {"allow": ["127.0.0.0/8"]},
    }
    return JobSettings.model_validate(plan | more)


def first(root: Path, seed: str) -> str:
    root.mkdir(parents=True)
    return str(uvloop.run(Job(root, settings(seed)).run()))


def again(root: Path, seed: str, days: float, keep: str = "strict", mode: str = "incremental",
          budget: str = "", **more: Any) -> str:  # fmt: skip
    """One more run, some days later; `more` are settings."""
    clock = Later(days)
    with Store.open(str(Layout(root).store)) as store:
        plan_run(store, Layout(root), clock.now(), mode=mode, keep=keep, budget=budget)
    return str(uvloop.run(Job(root, settings(seed, **more), clock=clock).run()))


def kept(run: Path) -> Kept:
    """Read the WARCs of a run."""
    found = Kept(run, {}, {}, {}, {})
    for path in sorted((run / "archive").glob("*.warc.gz")):
        with path.open("rb") as file:
            for entry in WarcReader(file):
                fields = dict(entry.fields)
                url, date = fields.get("WARC-Target-URI", ""), fields["WARC-Date"]
                block = b"".join(iter(entry.read, b""))
                if fields["WARC-Type"] == "response":
                    found.responses[url] = (date, int(block.split(b" ", 2)[1]))
                elif fields["WARC-Type"] == "revisit":
                    found.revisits[url] = date
                elif fields["WARC-Type"] == "metadata":
                    lines = dict(_lines(block))
                    if "reason=pair" not in lines.get("verdict", ""):
                        found.verdicts[url] = lines.get("verdict", "")
                    if "payloadDigest" in lines:
                        found.notes[url] = lines["payloadDigest"]
    return found


def _lines(block: bytes) -> Iterator[tuple[str, str]]:
    for line in block.decode().split("\r\n"):
        name, _, value = line.partition(": ")
        yield name, value
