"""The text of `storage check`: the damage, the results of a repair, and the remedies."""

from typing import Any

from nacre.cli import output
from nacre.crawldb.seeds import SEEDS
from nacre.report.formatting import size
from nacre.rounds.bucket_repair import RemadeBucket
from nacre.rounds.check import StorageCheck
from nacre.rounds.segments.segment_files import is_note
from nacre.rounds.tables.tables import CRAWLDB


def check_data(result: StorageCheck) -> dict[str, Any]:
    """Return the result of a check for JSON."""
    rows = {
        name: [item._asdict() for item in getattr(result, name)]
        for name in ("damaged", "cash", "buckets", "indexes", "left")
    }
    return {**result._asdict(), **rows}


def say_check(result: StorageCheck) -> None:
    """Print the result of a check."""
    files = f"{output.count(result.files, 'file')}, {size(result.size)}"
    output.say(f"version {result.version}: {files}, {len(result.damaged)} damaged")
    for file in result.damaged:
        output.say(f"  {' '.join(str(value) for value in file)}")
    for change in result.cash:
        cash = f"{change.before} before, {change.after} after"
        output.say(f"  version {change.version} ({change.step}) changed the sum of cash: {cash}")


def say_repair(result: StorageCheck, *, dry: bool) -> None:
    """Print the result of a repair."""
    parts = output.count(result.remade, "part")
    if dry and result.remade:
        output.say(f"facts of {parts} would be made again of the WARCs")
    elif result.remade:
        lost = f"; {output.count(result.lost, 'URL')} are due again" if result.lost else ""
        output.say(f"version {result.now} has facts of {parts} made again of the WARCs{lost}")
    for bucket in result.buckets:
        _say_bucket(bucket, result.version, dry=dry)
    if dry and result.restored:
        output.say(f"the state of version {result.restored} would be restored")
    elif result.restored:
        lost = f"; {output.count(result.lost, 'URL')} are fetched again" if result.lost else ""
        output.say(f"version {result.now} has the state of version {result.restored}{lost}")
    for index in result.indexes:
        if dry:
            output.say(f"{index.name} would be made again of its WARC")
        elif index.is_same:
            output.say(f"{index.name} is made again of its WARC")
        else:
            output.say(
                f"{index.name} is made again of its WARC, with the sha256 {index.found}, which is "
                "not the one that was committed: another version of Nacre made it"
            )
    for name in result.forgotten:
        effect = next(text for note, text in _WITHOUT.items() if f"/{note}" in name)
        output.say(f"{name} {'would be' if dry else 'is'} given up: {effect}")


def _say_bucket(bucket: RemadeBucket, version: int, *, dry: bool) -> None:
    """Print the sources of a rebuilt bucket, the URLs to fetch again, and the step to run."""
    name = f"bucket {bucket.bucket} of {bucket.table}"
    if dry:
        output.say(f"{name} would be made again; the other buckets stay")
        return
    sources = _sources(bucket, version)
    action = f"made again of {', '.join(sources)}" if sources else "emptied: nothing else has it"
    output.say(f"{name} is {action}; the other buckets stay")
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
    "files": "the digests of the files of the segment are computed again",
}


_AGAIN = {
    "nutch": "`import` the segment of Nutch",
    "job": "`import` the job",
    "merge": "`merge` the other crawl",
}
"""How a segment comes back, by where it was imported from."""


def say_advice(result: StorageCheck, directory: str, *, repair: bool) -> None:
    """Print remedies for the damage that a repair cannot fix."""
    unrepaired = result._replace(damaged=result.left)
    remade = {index.name for index in result.indexes}
    records = [record for record in unrepaired.records if record.name not in remade]
    if records and repair:
        lost = output.count(len(records), "file")
        output.say(f"{lost} of the archive can only be put back from a copy; tables stay")
    command = f"{output.program()} cycle {output.typed(directory)}"
    for name, files in unrepaired.segments.items():
        if any(not is_note(file.name) for file in files):
            output.say(
                f"segment {name}: put its files back from a copy, or give it up by `{command} "
                f"segments drop {name}`; URLs that wait in it are then due again"
            )
    for name, origin in result.imported.items():
        output.say(
            f"segment {name}: its facts cannot be made again here. Give it up by `{command} "
            f"segments drop {name}`, and then {_AGAIN[origin]} again: that brings it back"
        )
    indexes = [record for record in records if record.name.endswith(".cdxj")]
    notes = [file for files in unrepaired.segments.values() for file in files if is_note(file.name)]
    if not repair and (unrepaired.tables or indexes or notes):
        output.say(f"`{command} storage check --repair` repairs all files except WARCs and lists")
