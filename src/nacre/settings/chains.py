"""`chains` in `crawl.yaml`: builds valid chains of processors from the setting.

A list is the whole chain. A mapping changes the stock chain: `insert`, `remove` and `reorder`, and
settings of entries by their names. So a path such as `chains.fetch.preselect.block_all` is the same
in the file, in a sheet and in `nacre set`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from nacre.config.component import Component, setting
from nacre.config.facts import no_such_setting
from nacre.config.findings import SECTION
from nacre.config.registry import did_you_mean, nearest, one_of
from nacre.engine.candidates.scoping import JudgeScope, Prepare
from nacre.engine.chain.entry import IN_SCHEMA, PROCESSORS, AnyEntry, ChainName, Entry
from nacre.engine.steps.archive import Archive
from nacre.engine.steps.binaries import ExtractDoc, ExtractPdf, ExtractSwf
from nacre.engine.steps.bot_block import BotBlock
from nacre.engine.steps.content import ContentDigest, MultipleRegex, TrapSuppress, Universal
from nacre.engine.steps.dispose import Dispose, FollowLinks, Reschedule
from nacre.engine.steps.extract import Extract
from nacre.engine.steps.fetching import FetchDns, FetchHttp
from nacre.engine.steps.links import ImpliedUris, SupplementaryLinks, UrisWithinUris
from nacre.engine.steps.mapping import HashCrawlMapper, LexicalCrawlMapper
from nacre.engine.steps.preconditions import CheckPreconditions
from nacre.engine.steps.preselect import Preselect, RecheckScope
from nacre.engine.steps.quotas import EnforceQuotas, LimitRuntime
from nacre.engine.steps.render import Render
from nacre.engine.steps.walls import Walls
from nacre.messages import OR, SEMICOLON, error_text, join, message

# ---- the processors of Nacre

PROCESSORS.add(JudgeScope, Prepare)
PROCESSORS.add(Preselect, LimitRuntime, EnforceQuotas, CheckPreconditions, RecheckScope)
PROCESSORS.add(FetchDns, FetchHttp, Extract, Render, Walls)
PROCESSORS.add(Archive, FollowLinks, Dispose)
PROCESSORS.add(ImpliedUris, UrisWithinUris, SupplementaryLinks)
PROCESSORS.add(BotBlock, TrapSuppress, ContentDigest, MultipleRegex, Universal)
PROCESSORS.add(ExtractPdf, ExtractDoc, ExtractSwf)
PROCESSORS.add(HashCrawlMapper, LexicalCrawlMapper, Reschedule)


def _entries(*kinds: type[Entry]) -> tuple[Entry, ...]:
    """Return the default entries; without validators, like `config.component.section`."""
    return tuple(kind.model_construct() for kind in kinds)


STOCK: dict[ChainName, tuple[Entry, ...]] = {
    ChainName.CANDIDATE: _entries(JudgeScope, Prepare),
    ChainName.FETCH: _entries(
        Preselect,
        LimitRuntime,
        EnforceQuotas,
        CheckPreconditions,
        RecheckScope,
        FetchDns,
        FetchHttp,
        Extract,
        Render,
        Walls,
    ),
    ChainName.DISPOSITION: _entries(Archive, FollowLinks, Dispose),
}
"""The entries of each chain where a configuration changes nothing, in order."""

# ---- values of a configuration

INSERT, REMOVE, REORDER = "insert", "remove", "reorder"

_SAMPLE = "`insert: [{processor: NAME, before: OTHER}]`"


class ChainEditor:
    """Changes the stock chain as a mapping requests; collects its errors."""

    def __init__(self, chain: ChainName) -> None:
        self.chain = chain
        self.entries = list(STOCK[chain])
        self.errors: list[InitErrorDetails] = []

    def edit(self, edits: Mapping[str, object]) -> tuple[Entry, ...]:
        """Return the chain.

        Raises:
            ValidationError: With everything that is wrong, each at its place.
        """
        self._remove(edits.get(REMOVE))
        self._insert(edits.get(INSERT))
        self._reorder(edits.get(REORDER))
        for name, values in edits.items():
            if name not in (INSERT, REMOVE, REORDER):
                self._configure(name, values)
        if self.errors:
            raise ValidationError.from_exception_data("chain", self.errors)
        return tuple(self.entries)

    def _remove(self, names: object) -> None:
        for place, name in self._read_list(REMOVE, names):
            at = self._find(place, name)
            if at is not None:
                del self.entries[at]

    def _insert(self, entries: object) -> None:
        for place, value in self._read_list(INSERT, entries):
            fields = dict(value) if isinstance(value, Mapping) else value
            before = after = None
            if isinstance(fields, dict):
                before, after = fields.pop("before", None), fields.pop("after", None)
            entry = self._read(place, fields)
            if before is not None and after is not None:
                self._wrong(
                    place, message("settings.say-either", "say either `before` or `after`"), value
                )
            elif entry is not None:
                self._put(place, entry, before, after)

    def _put(
        self, place: tuple[str | int, ...], entry: Entry, before: object, after: object
    ) -> None:
        if before is not None:
            neighbour = self._find((*place, "before"), before)
            at = neighbour
        elif after is not None:
            neighbour = self._find((*place, "after"), after)
            at = None if neighbour is None else neighbour + 1
        else:
            at = self._usual(entry)
        if at is not None:
            self.entries.insert(at, entry)

    def _usual(self, entry: Entry) -> int:
        """Behind the entry that it names; else before those at the end that are always there."""
        labels = [listed.label for listed in self.entries]
        for name in entry.behind.split():
            if name in labels:
                return labels.index(name) + 1
        end = len(labels)
        while end and self.entries[end - 1].fixed:
            end -= 1
        return end

    def _reorder(self, names: object) -> None:
        """Those named come in this order, in the places that they have together."""
        positions = [self._find(place, name) for place, name in self._read_list(REORDER, names)]
        places = [at for at in positions if at is not None]
        if len(set(places)) < len(places):
            self._wrong(
                (REORDER,), message("settings.names-entry-twice", "contains an entry twice"), names
            )
            return
        moved = [self.entries[at] for at in places]
        for at, entry in zip(sorted(places), moved, strict=True):
            self.entries[at] = entry

    def _configure(self, name: str, values: object) -> None:
        at = self._find((name,), name)
        if at is None:
            return
        if not isinstance(values, Mapping):
            self._wrong(
                (name,),
                SECTION,
                values,
            )
            return
        entry_before = self.entries[at]
        current = {key: getattr(entry_before, key) for key in entry_before.model_fields_set}
        entry = self._read((name,), {**current, **values, "processor": entry_before.kind})
        if entry is not None:
            self.entries[at] = entry

    # ---- parts

    def _read_list(self, key: str, value: object) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        if value is None:
            return
        items: Sequence[object] = value if isinstance(value, list | tuple) else [value]
        for number, item in enumerate(items):
            yield (key, number), item

    def _find(self, place: tuple[str | int, ...], name: object) -> int | None:
        labels = [entry.label for entry in self.entries]
        if name in labels:
            return labels.index(str(name))
        near = nearest(str(name), [*labels, INSERT, REMOVE, REORDER])
        entries = message("settings.chain-has", "it has: {names}", names=", ".join(labels))
        hint = did_you_mean(near) if near else entries
        self._wrong(
            place,
            message(
                "settings.chain-has-no-entry",
                "the {chain} chain has no entry {name!r}; {hint}",
                chain=self.chain,
                name=str(name),
                hint=hint,
            ),
            name,
        )
        return None

    def _read(self, place: tuple[str | int, ...], value: object) -> Entry | None:
        try:
            return PROCESSORS.read(value)
        except ValidationError as error:
            self.errors += [_again(item, place, value) for item in error.errors()]
        except ValueError as error:
            self._wrong(place, error_text(error), value)
        return None

    def _wrong(self, place: tuple[str | int, ...], reason: str, value: object) -> None:
        error = _chain_error(reason)
        self.errors.append(InitErrorDetails(type=error, loc=place, input=value))


def _again(item: ErrorDetails, place: tuple[str | int, ...], value: object) -> InitErrorDetails:
    """Return the error of an entry, at its place in the configuration."""
    kind: str | PydanticCustomError = item["type"]
    if kind == "value_error":
        kind = PydanticCustomError("value_error", _plain(item["msg"]), item.get("ctx"))
    elif kind == "extra_forbidden" and len(item["loc"]) == 1 and isinstance(value, Mapping):
        fields = PROCESSORS.get(value["processor"]).model_fields
        near = nearest(str(item["loc"][0]), fields)
        hint = did_you_mean(near) if near else one_of(fields)
        kind = _chain_error(no_such_setting("", hint).message)
    return InitErrorDetails(
        type=kind, loc=(*place, *item["loc"]), input=item["input"], ctx=item.get("ctx", {})
    )


def _chain_error(text: str) -> PydanticCustomError:
    return PydanticCustomError("chain", _plain(text), {"error": text})


def _plain(text: str) -> Any:  # noqa: ANN401 - pydantic wants a literal
    """Return a message as a template without places."""
    return text.removeprefix("Value error, ").replace("{", "{{").replace("}", "}}")


def entries_of(chain: ChainName, value: object) -> object:
    """Return the entries of a chain in a configuration, ready to be read one by one."""
    if isinstance(value, Mapping):
        return ChainEditor(chain).edit(value)
    if isinstance(value, str):
        raise ValueError(  # noqa: TRY004 - pydantic collects these
            message(
                "settings.chain-is-list-of-processors",
                "a chain is a list of processors, or a mapping of changes: {sample}",
                sample=_SAMPLE,
            )
        )
    return value


# ---- invalid combinations


def require_sound(chain: ChainName, entries: Sequence[Entry]) -> None:
    """Raise ValueError with everything that is wrong with a chain."""
    problems = [
        *_check_order(chain, entries),
        *_twins(chain, entries),
        *_check_fixed(chain, entries),
        *_unmet(chain, entries),
    ]
    if problems:
        raise ValueError(join(problems, *SEMICOLON))


def _check_order(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        if chain not in entry.chains:
            belongs = " or ".join(sorted(entry.chains))
            yield message(
                "settings.cannot-be-in-chain",
                "`{label}` cannot be in the {chain} chain, only in: {belongs}",
                label=entry.label,
                chain=chain,
                belongs=belongs,
            )


def _twins(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    labels = [entry.label for entry in entries]
    for label in dict.fromkeys(duplicate for duplicate in labels if labels.count(duplicate) > 1):
        yield message(
            "settings.chain-has-two-entries",
            "the {chain} chain has two entries `{label}`; give one of them a `name`",
            chain=chain,
            label=label,
        )
    kinds = [entry.kind for entry in entries]
    for kind in dict.fromkeys(
        duplicate.kind for duplicate in STOCK[chain] if kinds.count(duplicate.kind) > 1
    ):
        yield message(
            "settings.processor-twice",
            "`{kind}` can be in the {chain} chain only once",
            kind=kind,
            chain=chain,
        )


def _check_fixed(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    for stock in STOCK[chain]:
        if not stock.fixed:
            continue
        fixed_entry = next((entry for entry in entries if entry.kind == stock.kind), None)
        if fixed_entry is None:
            yield message(
                "settings.chain-needs",
                "the {chain} chain needs `{kind}`: {fixed}",
                chain=chain,
                kind=stock.kind,
                fixed=stock.fixed,
            )
        elif not fixed_entry.enabled or fixed_entry.gate:
            yield message(
                "settings.can-have-no-gate",
                "`{label}` can have no gate, and cannot be disabled: {fixed}",
                label=fixed_entry.label,
                fixed=stock.fixed,
            )
    order = [entry.kind for entry in entries if entry.kind in _ORDER[chain]]
    if len(set(order)) == len(order) and order != sorted(order, key=_ORDER[chain].index):
        yield message(
            "settings.chain-order",
            "in the {chain} chain these keep their order: {names}",
            chain=chain,
            names=", ".join(_ORDER[chain]),
        )


_ORDER = {
    ChainName.CANDIDATE: tuple(entry.kind for entry in STOCK[ChainName.CANDIDATE]),
    ChainName.FETCH: (),
    ChainName.DISPOSITION: tuple(entry.kind for entry in STOCK[ChainName.DISPOSITION]),
}
"""Entries that are done in one step, in this order only."""


def _unmet(chain: ChainName, entries: Sequence[Entry]) -> Iterator[str]:
    available: set[str] = set()
    everywhere = {gift for entry in entries if entry.enabled for gift in entry.gives}
    gifts = {gift for kind in PROCESSORS if chain in kind.chains for gift in kind.gives}
    for entry in entries:
        if not entry.enabled:
            continue
        for need in sorted((entry.needs & gifts) - available):
            late = need in everywhere
            how = (
                message("settings.comes-after", "comes after it")
                if late
                else message("settings.processor-absent", "is not in the chain or disabled")
            )
            yield message(
                "settings.processor-needs",
                "`{label}` needs {need}, which {givers} gives, and that {how}",
                label=entry.label,
                need=need,
                givers=_givers(need),
                how=how,
            )
        for need in sorted(entry.uses - everywhere):
            yield (
                message(
                    "settings.processor-needs-absent",
                    "`{label}` needs {need}, which {givers} gives, and that is not in the {chain} "
                    "chain or disabled",
                    label=entry.label,
                    need=need,
                    givers=_givers(need),
                    chain=chain,
                )
            )
        available |= entry.gives


def _givers(need: str) -> str:
    names = [
        f"`{kind.model_fields['processor'].default}`" for kind in PROCESSORS if need in kind.gives
    ]
    return join(names, *OR) or message("settings.no-processor", "no known processor")


# ---- the section

_ITEM: dict[str, Any] = {IN_SCHEMA: True}
_NAMES = {"type": "array", "items": {"type": "string"}}
_SCHEMA = {
    "anyOf": [
        {"type": "array", "items": _ITEM},
        {
            "type": "object",
            "properties": {
                INSERT: {"type": "array", "items": _ITEM},
                REMOVE: _NAMES,
                REORDER: _NAMES,
            },
            "additionalProperties": {"type": "object"},
        },
    ]
}


def _sound(chain: ChainName) -> Callable[[tuple[Entry, ...]], tuple[Entry, ...]]:
    def checked(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        require_sound(chain, entries)
        return entries

    return checked


def _stock(chain: ChainName) -> Callable[[], tuple[Entry, ...]]:
    return lambda: STOCK[chain]


_Candidate = Annotated[
    tuple[AnyEntry, ...],
    BeforeValidator(partial(entries_of, ChainName.CANDIDATE)),
    AfterValidator(_sound(ChainName.CANDIDATE)),
    WithJsonSchema(_SCHEMA),
]
_Fetch = Annotated[
    tuple[AnyEntry, ...],
    BeforeValidator(partial(entries_of, ChainName.FETCH)),
    AfterValidator(_sound(ChainName.FETCH)),
    WithJsonSchema(_SCHEMA),
]
_Disposition = Annotated[
    tuple[AnyEntry, ...],
    BeforeValidator(partial(entries_of, ChainName.DISPOSITION)),
    AfterValidator(_sound(ChainName.DISPOSITION)),
    WithJsonSchema(_SCHEMA),
]


class ChainSettings(Component):
    """The processors of the three chains: a list of them, or the differences from the stock chain.

    `insert: [{processor: NAME, before: OTHER}]` (or `after`; without both it gets its usual place),
    `remove: [NAME]`, `reorder: [NAME, NAME]`, and `NAME: {enabled: false, gate: RULES}`.
    """

    candidate: _Candidate = setting(
        _stock(ChainName.CANDIDATE), "For each link found.", live=False, sheets=False, items=True
    )
    fetch: _Fetch = setting(
        _stock(ChainName.FETCH), "For each URI handed out.", live=False, sheets=False, items=True
    )
    disposition: _Disposition = setting(
        _stock(ChainName.DISPOSITION),
        "For each URI that is finished.",
        live=False,
        sheets=False,
        items=True,
    )

    def of(self, chain: ChainName) -> tuple[Entry, ...]:
        """Return the entries of a chain, in order."""
        entries: tuple[Entry, ...] = getattr(self, chain.value)
        return entries
