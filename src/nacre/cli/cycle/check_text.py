"""The text of `storage check`: what was found, what a repair has done, and what helps."""

from typing import Any

from nacre.cli import output
from nacre.cycle.check import StorageCheck
from nacre.cycle.segment_files import is_note
from nacre.report.formatting import size


def check_data(found: StorageCheck) -> dict[str, Any]:
    """The result of a check as JSON has it."""
    rows = {
        name: [one._asdict() for one in getattr(found, name)]
        for name in ("damaged", "cash", "indexes", "left")
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
    if dry and found.restored:
        output.say(f"the state of version {found.restored} would be restored")
    elif found.restored:
        output.say(f"version {found.now} has the state of version {found.restored}")
    for one in found.indexes:
        if dry:
            output.say(f"{one.name} would be made again of its WARC")
        elif one.is_same:
            output.say(f"{one.name} is made again of its WARC")
        else:
            output.say(
                f"{one.name} is made again of its WARC, with the sha256 {one.found}, which is not "
                "the one that was committed: another version of Nacre made it"
            )
    for name in found.forgotten:
        said = next(text for note, text in _WITHOUT.items() if f"/{note}" in name)
        output.say(f"{name} {'would be' if dry else 'is'} given up: {said}")


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
    made = {one.name for one in found.indexes}
    records = [one for one in left.records if one.name not in made]
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
    indexes = [one for one in records if one.name.endswith(".cdxj")]
    notes = [one for of in left.segments.values() for one in of if is_note(one.name)]
    if not repair and (left.tables or indexes or notes):
        output.say(f"`{command} storage check --repair` mends what is not a WARC or a list")
