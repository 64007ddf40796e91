"""An entry of a chain is a processor with its settings and its gate; a registry lists them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, PlainValidator, SerializeAsAny, WithJsonSchema

from nacre.config.component import Component, ComponentRegistry, setting
from nacre.config.effective import Effective
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI
from nacre.core.history import HistoryRecord
from nacre.core.processor import Visit
from nacre.messages import message
from nacre.scope.rules.stock import AnyRule
from nacre.scope.state import ReadLines, ScopeState
from nacre.store.commit import GroupCommit


class ChainName(StrEnum):
    """The three chains, in the order in which a URI meets them."""

    CANDIDATE = "candidate"
    FETCH = "fetch"
    DISPOSITION = "disposition"


# What processors give, and others need.
REPLY = "a reply"
LINKS = "outlinks"
NAMES = "addresses of hosts"
CHECKS = "checked preconditions"
SCOPED = "a verdict of the scope"
ORDERED = "a place in the frontier"


def _as_list(value: object) -> object:
    """Return a list of rules, where one was given by itself."""
    return (value,) if isinstance(value, str | Mapping) else value


GateRules = Annotated[tuple[AnyRule, ...], BeforeValidator(_as_list)]


class Kit(NamedTuple):
    """The parts of a job that a processor may use.

    Attributes:
        chain: The chain that contains it.
        label: Its name there.
        clock: The time.
        root: Directory of the job.
        run: Directory of the run, relative to the job.
        line: Adds a line, its line feed included, to the log of a name, `myprocessor.log`. It
            becomes durable together with the visit.
        alert: Sends a message to the operator: to alerts.log and to listeners.
        address: Address of a visit's server as far as it is known; "" while it is not.
        job: The settings of the job, under each combination of sheets.
        state: State of the scope, with which rules are built (`scope.compile`).
        commit: The open commit group, for own files of the processor.
        history: Returns the history of a URL; None: there is none.
        later: Puts a URI into the frontier again, to be fetched at a time.
    """

    chain: ChainName
    label: str
    clock: Clock
    root: Path
    run: str
    line: Callable[[str, bytes], None]
    alert: Callable[[str], None]
    address: Callable[[Visit], str]
    job: Effective[Any]
    state: ScopeState
    commit: GroupCommit
    history: Callable[[str], HistoryRecord | None]
    later: Callable[[CrawlURI, float], None]


class Entry(Component):
    """An entry of a chain: its processor, its gate, and the processor's own settings.

    A processor's class of settings describes it and its place; `make` makes what does
    the work.
    """

    chains: ClassVar[frozenset[ChainName]] = frozenset((ChainName.FETCH,))
    """Chains that can contain it."""

    heritrix: ClassVar[str] = ""
    """Heritrix's class name; "" if it has no such processor."""

    behind: ClassVar[str] = ""
    """The entry that it follows if a configuration has no order, or several with a space between
    them: the first that is there counts. Without one it goes to the end."""

    gives: ClassVar[frozenset[str]] = frozenset()
    """What it gives, for others that need it."""

    needs: ClassVar[frozenset[str]] = frozenset()
    """Data that entries before it must give, if its chain has entries that give them."""

    uses: ClassVar[frozenset[str]] = frozenset()
    """What must be given somewhere in its chain."""

    fixed: ClassVar[str] = ""
    """Why it is always in its chain, at its place; "" if it need not be."""

    enabled: bool = setting(True, "False leaves the processor out.")
    gate: GateRules = setting(
        (),
        "DecideRules: where the last opinion is REJECT, the processor leaves the URI out. A single "
        "rule needs no list.",
    )
    comment: str = setting("", "Free text for the operator.")
    name: str = setting(
        "",
        "Its name in paths, `chains.fetch.NAME.enabled`, and in reports. Empty: its kind.",
        pattern=r"^[^.]*$",
        live=False,
        sheets=False,
    )

    @classmethod
    def chosen(cls, value: object) -> "type[Component]":
        """The processor that a mapping of a configuration means; this one when it names none."""
        name = value.get("processor") if isinstance(value, Mapping) else None
        return (PROCESSORS.find(name) if isinstance(name, str) else None) or cls

    @property
    def kind(self) -> str:
        """The short name of the processor."""
        return str(getattr(self, "processor", ""))

    @property
    def label(self) -> str:
        """The name of the entry in its chain."""
        return self.name or self.kind

    def faults(self, read_lines: ReadLines) -> Iterator[str]:
        """Faults that keep it from working, for `nacre check`, beyond those that its fields show.

        Args:
            read_lines: The lines of a file of the job; raises OSError.
        """
        yield from ()

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Any:  # noqa: ANN401 - by chain
        """Make the worker; called once, when a job begins to run.

        Args:
            settings: This entry under each combination of sheets: `settings[visit.overlay]`.
            kit: What it may use of the job.

        Returns:
            A `core.processor.Processor`; in the candidate chain a `LinkProcessor`, in the
            disposition chain a `FinalProcessor`.
        """
        raise NotImplementedError(f"{cls.__qualname__} does not say what does its work")


class FixedEntry(Entry):
    """An entry that its chain cannot be without."""

    enabled: bool = setting(True, "Always true.", live=False, sheets=False)
    gate: GateRules = setting((), "Always empty.", live=False, sheets=False)


class ProcessorRegistry(ComponentRegistry[Entry]):
    """Processors by their short names, and by Heritrix's class names."""

    def __init__(self) -> None:
        shape = message(
            "engine.processor-shape", "it is a name, or a mapping with `processor: NAME`"
        )
        super().__init__(Entry, "processor", shape)

    def find(self, name: str) -> type[Entry] | None:
        """See `Registry.find`."""
        last = name.rpartition(".")[2]
        of_heritrix = (kind for kind in self if kind.heritrix and kind.heritrix == last)
        return super().find(name) or next(of_heritrix, None)

    def other_names(self) -> Iterable[str]:
        """See `Registry.other_names`."""
        return (kind.heritrix for kind in self if kind.heritrix)


PROCESSORS = ProcessorRegistry()
"""All processors: Nacre's own are added in `settings.chains`."""

IN_SCHEMA = "x-nacre-processor"
"""Placeholder of an entry in a JSON Schema, until its maker puts all entries there."""

AnyEntry = Annotated[
    Entry,
    PlainValidator(PROCESSORS.read),
    SerializeAsAny(),
    WithJsonSchema({IN_SCHEMA: True}),
]
"""An entry of a chain, chosen by its short name or Heritrix's class name."""
