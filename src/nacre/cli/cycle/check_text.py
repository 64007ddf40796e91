"""The text of `storage check`: what was found, what a repair has done, and what helps."""

from typing import Any

from nacre.cli import output
from nacre.crawldb.seeds import SEEDS
from nacre.report.formatting import size
from nacre.rounds.bucket_repair import RemadeBucket
from nacre.rounds.check import StorageCheck
from nacre.rounds.segments.segment_files import is_note
from nacre.rounds.tables.tables import CRAWLDB


def check_data(found: StorageCheck) -> dict[str, Any]:
    """The result of a check as JSON has it."""
    rows = {
        name: [one._asdict() for one in getattr(found, name)]
        for name in ("damaged", "cash", "buckets", "indexes", "left")
    }
    return {**found._asdict(), **rows}


def say_check(found: StorageCheck) -> None:
    """Say what a check has found."""
    files = f"{output.count(found.files, 'file')}, {size(found.size)}"
    output.say(f"version {found.version}: {files}, {len(found.damaged)} damaged")
    for one in found.damaged:
        output.say(f"  {' '.join(str(value) for value in one)}")
    for change in found.cash:
        cash = f"{change.before} before, {change.after} after"
        output.say(f"  version {change.version} ({change.step}) changed the sum of cash: {cash}")


def say_repair(found: StorageCheck, *, dry: bool) -> None:
    """Say what a repair has done."""
    parts = output.count(found.remade, "part")
    if dry and found.remade:
        output.say(f"facts of {parts} would be made again of the WARCs")
    elif found.remade:
        lost = f"; {output.count(found.lost, 'URL')} are due again" if found.lost else ""
        output.say(f"version {found.now} has facts of {parts} made again of the WARCs{lost}")
    for bucket in found.buckets:
        _say_bucket(bucket, found.version, dry=dry)
    if dry and found.restored:
        output.say(f"the state of version {found.restored} would be restored")
    elif found.restored:
        lost = f"; {output.count(found.lost, 'URL')} are fetched again" if found.lost else ""
        output.say(f"version {found.now} has the state of version {found.restored}{lost}")
    for index in found.indexes:
        if dry:
            output.say(f"{index.name} would be made again of its WARC")
        elif index.is_same:
            output.say(f"{index.name} is made again of its WARC")
        else:
            output.say(
                f"{index.name} is made again of its WARC, with the sha256 {index.found}, which is "
                "not the one that was committed: another version of Nacre made it"
            )
    for name in found.forgotten:
        said = next(text for note, text in _WITHOUT.items() if f"/{note}" in name)
        output.say(f"{name} {'would be' if dry else 'is'} given up: {said}")


def _say_bucket(bucket: RemadeBucket, version: int, *, dry: bool) -> None:
    """Say how a bucket was made again, what is fetched again, and which step completes it."""
    name = f"bucket {bucket.bucket} of {bucket.table}"
    if dry:
        output.say(f"{name} would be made again; the other buckets stay")
        return
    sources = _sources(bucket, version)
    made = f"made again of {', '.join(sources)}" if sources else "emptied: nothing else has it"
    output.say(f"{name} is {made}; the other buckets stay")
    if bucket.again:
        output.say(f"  {output.count(len(bucket.again), 'URL')} of it are fetched again:")
        for url in bucket.again[:_SHOWN]:
            output.say(f"    {url}")
        if len(bucket.again) > _SHOWN:
            output.say(f"    … and {len(bucket.again) - _SHOWN:,} more (--json has all)")
    if bucket.table == SEEDS:
        output.say(f"  {_seeds_remedy(bucket)}")
        return
    output.say(f"  {_COMPLETED.get(bucket.table, '`rank` computes it again')}")


def _seeds_remedy(bucket: RemadeBucket) -> str:
    """How lost seeds come back: only the job's own list can be read again."""
    own = "the next step reads the job's own list again"
    if not bucket.injected:
        return f"{own}; no list that was injected has lost seeds"
    numbers = [str(number) for number in bucket.injected if number]
    lists = f"of {'versions' if len(numbers) > 1 else 'version'} {', '.join(numbers)}"
    if 0 in bucket.injected:
        lists = f"{lists} and of all earlier versions" if numbers else "that were ever injected"
    return (
        f"{own}; `inject` the lists {lists} again: until then the scope lacks their seeds, and "
        "links near these may be refused, which that inject sets right"
    )


def _sources(bucket: RemadeBucket, version: int) -> list[str]:
    """What a bucket was made again of."""
    before = "its other files" if bucket.since == version else f"version {bucket.since}"
    return [
        *([before] if bucket.since else []),
        *(
            [f"the facts of {output.count(len(bucket.segments), 'segment')}"]
            if bucket.segments
            else []
        ),
        *(["the lists of segments"] if bucket.table == CRAWLDB else []),
    ]


_SHOWN = 10
_COMPLETED = {
    CRAWLDB: "seeds that were never listed come back with `inject`",
    "hosts": "the next `generate` counts the URLs of its hosts again",
    "links": "`links --rebuild` takes its links again",
    "signatures": "its pages are compared with new ones when they are fetched again",
    "indexed": "`index --rebuild` completes it",
}
"""The step that completes a table, by its name."""

_WITHOUT = {
    "choice": "`explain` cannot tell any more why a URL is not in its list",
    "fetch": "the time limit of the fetch counts from its next start",
    "files": "the digests of the files of the segment are taken anew",
}


_AGAIN = {
    "nutch": "`import` the segment of Nutch",
    "job": "`import` the job",
    "merge": "`merge` the other crawl",
}
"""How a segment comes back, by where it was imported from."""


def say_advice(found: StorageCheck, directory: str, *, repair: bool) -> None:
    """Say what helps where a repair does not."""
    left = found._replace(damaged=found.left)
    made = {index.name for index in found.indexes}
    records = [record for record in left.records if record.name not in made]
    if records and repair:
        lost = output.count(len(records), "file")
        output.say(f"{lost} of the archive can only be put back from a copy; tables stay")
    command = f"{output.program()} cycle {output.typed(directory)}"
    for name, of in left.segments.items():
        if any(not is_note(one.name) for one in of):
            output.say(
                f"segment {name}: put its files back from a copy, or give it up by `{command} "
                f"segments drop {name}`; URLs that wait in it are then due again"
            )
    for name, origin in found.imported.items():
        output.say(
            f"segment {name}: its facts cannot be made again here. Give it up by `{command} "
            f"segments drop {name}`, and then {_AGAIN[origin]} again: that brings it back"
        )
    indexes = [record for record in records if record.name.endswith(".cdxj")]
    notes = [one for of in left.segments.values() for one in of if is_note(one.name)]
    if not repair and (left.tables or indexes or notes):
        output.say(f"`{command} storage check --repair` mends what is not a WARC or a list")
