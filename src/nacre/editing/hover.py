"""The meaning of a key or value of `crawl.yaml`, for whoever points at it."""

import msgspec

from nacre.config.facts import required
from nacre.config.findings import sample_of, typed
from nacre.editing.complete import default_text
from nacre.editing.outline import OutlineEntry, loose_tree, outline
from nacre.editing.places import PlaceName, described_at, part_named
from nacre.messages import SEMICOLON, join, message, static

_NEEDED = message("editing.required", "must be given")


class HoverCard(msgspec.Struct, frozen=True, kw_only=True):
    """The meaning of a key or value.

    Attributes:
        found: There is a meaning; otherwise all other fields are empty.
        start: Where the word begins, in characters from the begin of the text.
        end: Where it ends.
        path: Its dotted path; "" for none.
        title: Its name.
        kind: As in `CompletionItem`.
        doc: Its meaning.
        type: Its type with its unit; "" if it is no setting.
        default: Its default; "" where it has none, or one that is long.
        sample: A line to copy; "" where none helps.
        live: A running job can take another value.
        sheets: A sheet can change it.
        heritrix: Heritrix's names for it.
    """

    found: bool = False
    start: int = 0
    end: int = 0
    path: str = ""
    title: str = ""
    kind: str = ""
    doc: str = ""
    type: str = ""
    default: str = ""
    sample: str = ""
    live: bool = False
    sheets: bool = False
    heritrix: tuple[str, ...] = ()


def hover(text: str, offset: int) -> HoverCard:
    """The meaning of the key or value at an offset.

    Args:
        text: The YAML text; it may be broken.
        offset: Characters before the place.
    """
    offset = max(0, min(offset, len(text)))
    begin = text.rfind("\n", 0, offset) + 1
    line, column = text.count("\n", 0, offset) + 1, offset - begin
    entries = outline(text)
    candidates = [entry for entry in entries if entry.line == line]
    for candidate in reversed(candidates):
        if candidate.column <= column <= candidate.end and candidate.end > candidate.column:
            place_name = described_at(candidate.path, loose_tree(entries))
            return _card(place_name, candidate, begin + candidate.column, begin + candidate.end)
    for candidate in reversed(candidates):
        word = candidate.value.strip("\"'")
        at = candidate.value_column
        if word and at <= column <= at + len(candidate.value):
            return _card(part_named(word), candidate, begin + at, begin + at + len(candidate.value))
    return HoverCard()


def _card(place_name: PlaceName | None, entry: OutlineEntry, start: int, end: int) -> HoverCard:
    if place_name is None:
        return HoverCard()
    card = HoverCard(
        found=True,
        start=start,
        end=end,
        path=".".join(entry.path),
        title=place_name.name,
        kind=place_name.kind,
        doc=static(place_name.doc),
        heritrix=place_name.heritrix,
    )
    facts = place_name.facts
    if facts is None:
        return card
    return msgspec.structs.replace(
        card,
        type=join((typed(facts), _NEEDED if required(facts) else ""), *SEMICOLON),
        default=default_text(facts),
        sample=sample_of(facts),
        live=facts.live,
        sheets=facts.sheets,
    )
