"""What each step of the chains did, and the processors report. Source: Heritrix 3.

The counts of a step are absolute and joined to each commit group, as the statistics are.
"""

from collections.abc import Iterator

import msgspec

from nacre.report.material import Data, Material
from nacre.report.report import Page
from nacre.report.stats import totals
from nacre.report.summary import binary_size, duration, minute
from nacre.store.store import Store

_FAMILY = "stats"
_PREFIX, _END = b"p:", b"p;"


class Step(msgspec.Struct):
    """One step of a chain.

    Attributes:
        chain: The chain.
        name: Its name there.
        kind: Its class.
        function: What it does, one sentence.
        handled: Visits that it worked on; those that are tried again count again.
        seconds: Time that these spent in it, waits included.
        links: Links that it extracted; of the candidate chain: that it scheduled.
        written: Bytes that it wrote.
        plain: The same before they were compressed.
    """

    chain: str
    name: str
    kind: str = ""
    function: str = ""
    handled: int = 0
    seconds: float = 0.0
    links: int = 0
    written: int = 0
    plain: int = 0


class Steps:
    """The steps of a running job; counts of earlier processes included."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._earlier = {(step.chain, step.name): step for step in read_steps(store)}
        self._steps: list[Step] = []
        self._saved: list[int] = []

    def add(self, chain: str, name: str, processor: object) -> Step:
        """The counts of a step; the caller counts on.

        Args:
            chain: The chain.
            name: Name of the step.
            processor: What does the work; its class and the first line of its docstring are told.
        """
        step = self._earlier.pop((chain, name), None) or Step(chain, name)
        kind = type(processor)
        step.kind = f"{kind.__module__}.{kind.__qualname__}"
        step.function = (kind.__doc__ or "").partition("\n")[0]
        self._steps.append(step)
        return step

    def seal(self) -> None:
        """Write the counts, if there are new ones; called just before a group is sealed."""
        handled = [step.handled for step in self._steps]
        if handled == self._saved:
            return
        self._saved = handled
        # What earlier processes had in their chains, and this one has not, is kept behind the rest.
        for number, step in enumerate([*self._steps, *self._earlier.values()]):
            key = _PREFIX + number.to_bytes(2, "big")
            self._store.put(_FAMILY, key, msgspec.msgpack.encode(step))


def read_steps(store: Store) -> Iterator[Step]:
    """All steps as last committed."""
    for _, value in store.scan(_FAMILY, _PREFIX, _END):
        yield msgspec.msgpack.decode(value, type=Step)


def _build(material: Material) -> Data:
    chains: dict[str, list[Data]] = {}
    for step in read_steps(material.store):
        row = msgspec.structs.asdict(step)
        row["seconds"] = round(row["seconds"], 3)
        chains.setdefault(row.pop("chain"), []).append(row)
    facts, tally = material.facts(), totals(material.store)
    return {
        "report": "processors",
        "crawl": facts.job,
        "time": facts.now,
        "revisits": tally.duplicate_urls + tally.not_modified_urls,
        "crawled_bytes": tally.size,
        "chains": chains,
    }


def _text(data: Data) -> str:
    return "\n".join(_lines(data)) + "\n"


def _lines(data: Data) -> Iterator[str]:
    for chain, steps in data["chains"].items():
        yield f"{chain}Chain - Processors report - {minute(data['time'])}"
        yield f"  Number of Processors: {len(steps)}"
        yield ""
        for step in steps:
            yield from _step_lines(step)
            if step["written"]:
                yield from _written_lines(step, data)
            yield ""
        yield ""


def _step_lines(step: Data) -> Iterator[str]:
    yield f"Processor: {step['kind']} ({step['name']})"
    yield f"  Function:          {step['function']}"
    yield f"  Total CrawlURIs:   {step['handled']}"
    if step["seconds"]:
        yield f"  Time:              {duration(step['seconds'])}"
    if step["links"]:
        yield f"  {step['links']} links from {step['handled']} CrawlURIs"


def _written_lines(step: Data, data: Data) -> Iterator[str]:
    size, plain, written = data["crawled_bytes"], step["plain"], step["written"]
    yield f"  Revisit records:   {data['revisits']}"
    yield f"  Crawled content bytes (including http headers): {size} ({binary_size(size)})"
    yield (
        f"  Total uncompressed bytes (including all warc records): {plain} ({binary_size(plain)})"
    )
    yield f"  Total size on disk (compressed): {written} ({binary_size(written)})"


PROCESSORS = Page("processors", "processors-report.txt", _build, _text)
