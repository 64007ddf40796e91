"""From what `crawl.yaml` says of a chain to its entries.

A list is the whole chain. A mapping changes the stock chain: `insert`, `remove` and `reorder`, and
settings of entries by their names. So a path such as `chains.fetch.preselect.block_all` is the same
in the file, in a sheet and in `nacre set`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from nacre.config.spelling import nearest
from nacre.job.chain.entry import ChainName, Entry
from nacre.job.chain.stock import STOCK
from nacre.job.chain.table import PROCESSORS

INSERT, REMOVE, REORDER = "insert", "remove", "reorder"

_SAMPLE = "`insert: [{processor: NAME, before: OTHER}]`"


class ChainEditor:
    """Changes the stock chain as a mapping says; gathers what is wrong with it."""

    def __init__(self, chain: ChainName) -> None:
        self.chain = chain
        self.entries = list(STOCK[chain])
        self.errors: list[InitErrorDetails] = []

    def edit(self, said: Mapping[str, object]) -> tuple[Entry, ...]:
        """The chain.

        Raises:
            ValidationError: With everything that is wrong, each at its place.
        """
        self._remove(said.get(REMOVE))
        self._insert(said.get(INSERT))
        self._reorder(said.get(REORDER))
        for name, values in said.items():
            if name not in (INSERT, REMOVE, REORDER):
                self._configure(name, values)
        if self.errors:
            raise ValidationError.from_exception_data("chain", self.errors)
        return tuple(self.entries)

    def _remove(self, said: object) -> None:
        for place, name in self._listed(REMOVE, said):
            found = self._find(place, name)
            if found is not None:
                del self.entries[found]

    def _insert(self, said: object) -> None:
        for place, value in self._listed(INSERT, said):
            wanted = dict(value) if isinstance(value, Mapping) else value
            before = after = None
            if isinstance(wanted, dict):
                before, after = wanted.pop("before", None), wanted.pop("after", None)
            entry = self._read(place, wanted)
            if before is not None and after is not None:
                self._wrong(place, "say either `before` or `after`", value)
            elif entry is not None:
                self._put(place, entry, before, after)

    def _put(
        self, place: tuple[str | int, ...], entry: Entry, before: object, after: object
    ) -> None:
        if before is not None:
            found = self._find((*place, "before"), before)
            at = found
        elif after is not None:
            found = self._find((*place, "after"), after)
            at = None if found is None else found + 1
        else:
            at = self._usual(entry)
        if at is not None:
            self.entries.insert(at, entry)

    def _usual(self, entry: Entry) -> int:
        """Behind the entry that it names; else before those at the end that are always there."""
        labels = [one.label for one in self.entries]
        for name in entry.behind.split():
            if name in labels:
                return labels.index(name) + 1
        end = len(labels)
        while end and self.entries[end - 1].fixed:
            end -= 1
        return end

    def _reorder(self, said: object) -> None:
        """Those named stand in this order, in the places that they have together."""
        found = [self._find(place, name) for place, name in self._listed(REORDER, said)]
        places = [at for at in found if at is not None]
        if len(set(places)) < len(places):
            self._wrong((REORDER,), "names an entry twice", said)
            return
        moved = [self.entries[at] for at in places]
        for at, entry in zip(sorted(places), moved, strict=True):
            self.entries[at] = entry

    def _configure(self, name: str, values: object) -> None:
        at = self._find((name,), name)
        if at is None:
            return
        if not isinstance(values, Mapping):
            self._wrong((name,), "must be a section: indented `name: value` lines", values)
            return
        known = self.entries[at]
        given = {key: getattr(known, key) for key in known.model_fields_set}
        entry = self._read((name,), {**given, **values, "processor": known.kind})
        if entry is not None:
            self.entries[at] = entry

    # ---- parts

    def _listed(self, key: str, said: object) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        if said is None:
            return
        items: Sequence[object] = said if isinstance(said, list | tuple) else [said]
        for number, item in enumerate(items):
            yield (key, number), item

    def _find(self, place: tuple[str | int, ...], name: object) -> int | None:
        labels = [entry.label for entry in self.entries]
        if name in labels:
            return labels.index(str(name))
        near = nearest(str(name), [*labels, INSERT, REMOVE, REORDER])
        hint = f"did you mean `{near}`?" if near else "it has: " + ", ".join(labels)
        self._wrong(place, f"the {self.chain} chain has no entry {str(name)!r}; {hint}", name)
        return None

    def _read(self, place: tuple[str | int, ...], value: object) -> Entry | None:
        try:
            return PROCESSORS.read(value)
        except ValidationError as error:
            self.errors += [_again(item, place, value) for item in error.errors()]
        except ValueError as error:
            self._wrong(place, str(error), value)
        return None

    def _wrong(self, place: tuple[str | int, ...], why: str, given: object) -> None:
        error = PydanticCustomError("chain", _plain(why))
        self.errors.append(InitErrorDetails(type=error, loc=place, input=given))


def _again(item: ErrorDetails, place: tuple[str | int, ...], value: object) -> InitErrorDetails:
    """The error of an entry, at its place in the configuration."""
    kind: str | PydanticCustomError = item["type"]
    if kind == "value_error":
        kind = PydanticCustomError("value_error", _plain(item["msg"]))
    elif kind == "extra_forbidden" and len(item["loc"]) == 1 and isinstance(value, Mapping):
        known = PROCESSORS.kind(value["processor"]).model_fields
        near = nearest(str(item["loc"][0]), known)
        hint = f"did you mean `{near}`?" if near else "one of: " + ", ".join(known)
        kind = PydanticCustomError("chain", _plain(f"no such setting; {hint}"))
    return InitErrorDetails(
        type=kind, loc=(*place, *item["loc"]), input=item["input"], ctx=item.get("ctx", {})
    )


def _plain(text: str) -> Any:  # noqa: ANN401 - pydantic wants a literal
    """A message as a template without places."""
    return text.removeprefix("Value error, ").replace("{", "{{").replace("}", "}}")


def entries_of(chain: ChainName, value: object) -> object:
    """What a configuration says of a chain, ready to be read entry by entry."""
    if isinstance(value, Mapping):
        return ChainEditor(chain).edit(value)
    if isinstance(value, str):
        raise ValueError(f"a chain is a list of processors, or says what is other: {_SAMPLE}")  # noqa: TRY004 - pydantic collects these
    return value
