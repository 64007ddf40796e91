"""The words for what was moved into the tables of a directory, or out of them."""

from typing import TYPE_CHECKING, Any

from nacre.cli import output
from nacre.cli.cycle.texts import refused_text
from nacre.cli.output import count

if TYPE_CHECKING:
    from nacre.cycle.moving.nutch_import import ImportResult


def say_import(result: "ImportResult") -> None:
    """Say what was imported; what is damaged goes to standard error."""
    for line in result.messages:
        output.tell(f"left out: {line}")
    output.say(import_text(result))


def import_text(result: "ImportResult") -> str:
    """`10 records: 10 URLs, 10 new, 0 newer; 3 links, 2 hosts`."""
    taken = result.taken
    text = f"{count(result.records, 'record')}: {count(taken.known, 'URL')}, {taken.new:,} new, "
    text += f"{taken.newer:,} newer; {count(result.links, 'link')}, {count(taken.hosts, 'host')}"
    text += f"; {refused_text(result.refused)}" if result.refused else ""
    left = [(result.no_urls, "key without a URL", "keys without a URL")]
    left.append((result.damaged, "damaged record", "damaged records"))
    for number, one, many in left:
        text += f"; left out: {number:,} {one if number == 1 else many}" if number else ""
    kept = ", ".join(f"{number:,} of {name}" for name, number in sorted(result.unknown.items()))
    return text + (f"; kept as bytes: {kept}" if kept else "")


def import_numbers(result: "ImportResult") -> dict[str, Any]:
    """The same as plain data."""
    version = result.version.number if result.version is not None else None
    taken = {**result.taken._asdict(), "version": version}
    return {**result._asdict(), "taken": taken, "version": version}
