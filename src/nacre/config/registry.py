"""Registries: all parts of a kind by name. Nacre's own and those of plug-ins are added alike.

`nacre --help` imports this, so it imports no library beside the standard one.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any, Generic, TypeVar

from nacre.messages import SEMICOLON, Message, error_text, join, message

T = TypeVar("T")

CONTRACT = 1
"""Version of the plug-in contract (docs/plugins.md)."""

COMPONENTS = "nacre.components"
"""Group of entry points: rules and processors."""

EXTRACTORS = "nacre.extractors"
"""Group of entry points: extractors of links from documents of some media types."""

REPORTS = "nacre.reports"
"""Group of entry points: reports."""

COMMANDS = "nacre.commands"
"""Group of entry points: commands; see `cli.plugin_commands`."""


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the name most similar to `name`, ignoring case; "" for none."""
    plain = {candidate.lower().replace("-", "_"): candidate for candidate in names}
    near = difflib.get_close_matches(name.lower().replace("-", "_"), plain, n=1, cutoff=cutoff)
    return plain[near[0]] if near else ""


def did_you_mean(name: str) -> Message:
    """The hint that another name was meant."""
    return message("config.did-you-mean", "did you mean `{name}`?", name=name)


def one_of(names: Iterable[str]) -> Message:
    """Return the hint that these names are possible."""
    return message("config.choices", "one of: {names}", names=", ".join(names))


class Registry(Generic[T]):
    """The parts of one kind by name: classes, or objects.

    Parts of plug-ins are loaded once, at the first look-up of an unknown name: until then they cost
    nothing.

    Args:
        noun: What one of the parts is called in messages: `rule`, `report`.
        belongs: True for an object that is such a part.
        name_of: The name of a part; raises ValueError when it has none.
        group: The group of entry points in which plug-ins offer such parts.
    """

    def __init__(
        self,
        noun: str,
        belongs: Callable[[object], bool],
        name_of: Callable[[T], str] = attrgetter("name"),
        *,
        group: str = COMPONENTS,
    ) -> None:
        self.noun = noun
        self._belongs = belongs
        self._name_of = name_of
        self._group = group
        self._parts: dict[str, T] = {}
        self._places: dict[str, str] = {}
        self._looked = False
        self._faults: list[str] = []

    def __iter__(self) -> Iterator[T]:
        return iter(self._parts.values())

    def names(self) -> list[str]:
        """The names of all loaded parts, in the order in which they were added."""
        return list(self._parts)

    def add(self, *parts: T, place: str = "") -> None:
        """Add parts. What is there already may be added again.

        Args:
            parts: The parts.
            place: Where they come from, for messages; "" for the module and name of each.

        Raises:
            ValueError: A part has no name, or another part has it: the message names both places.
        """
        for part in parts:
            name, here = self._name_of(part), place or _place_of(part)
            present = self._parts.setdefault(name, part)
            if present is not part:
                there = self._places.get(name) or _place_of(present)
                raise ValueError(
                    message(
                        "config.name-exists",
                        "there is a {noun} {name!r} already: {there}, and now {here}",
                        noun=self.noun,
                        name=name,
                        there=there,
                        here=here,
                    )
                )
            self._places.setdefault(name, here)

    def find(self, name: str) -> T | None:
        """Return the loaded part of a name; None: there is none. Plug-ins are not loaded."""
        return self._parts.get(name)

    def get(self, name: str) -> T:
        """Return the part of a name, of a plug-in if necessary.

        Raises:
            ValueError: There is none. The message suggests a name, and lists plug-ins that failed.
        """
        part = self.find(name)
        if part is None:
            self.load_plugins()
            part = self.find(name)
        if part is None:
            near = nearest(name, [*self._parts, *self.other_names()])
            every = sorted(self._parts)
            hint = did_you_mean(near) if near else one_of(every)
            text = message(
                "config.no-component", "there is no {noun} {name!r}; {hint}",
                noun=self.noun, name=name, hint=hint,
            )  # fmt: skip
            raise ValueError(join((text, *self._faults), *SEMICOLON))
        return part

    def other_names(self) -> Iterable[str]:
        """Other names of parts, by which `find` finds them."""
        return ()

    def load_plugins(self) -> None:
        """Add the parts of all installed plug-ins; an unusable plug-in does not affect others."""
        if self._looked:
            return
        self._looked = True
        for entry in entry_points_of(self._group):
            fault = self._load(entry)
            if fault:
                self._faults.append(
                    message(
                        "config.plug-in-fault",
                        "{plugin} {fault}",
                        plugin=describe_entry(entry),
                        fault=fault,
                    )
                )

    def _load(self, entry: EntryPoint) -> str:
        """Add the part of an entry point; return why it cannot be used, "" if it can."""
        try:
            part = load(entry)
        except PluginError as error:
            return error_text(error)
        contract = getattr(part, "contract", None)
        if not isinstance(contract, int):
            article = "an" if self.noun[0] in "aeiou" else "a"
            problem: str = message("config.neither-rule-nor-entry", "neither a Rule nor an Entry")
            if self._group != COMPONENTS:
                problem = f"not {article} {self.noun}"
            return message(
                "config.not-a-plug-in",
                "is nothing that Nacre can plug in: it is {what}",
                what=problem,
            )
        if not contract:
            return message(
                "config.contract-missing",
                "does not say for which contract it was written: `contract = 1`",
            )
        if fault := contract_fault(contract):
            return fault
        try:
            if self._belongs(part):
                self.add(part, place=describe_entry(entry))
        except ValueError as error:
            return message("config.cannot-be-used", "cannot be used: {error}", error=error)
        return ""


def _place_of(part: object) -> str:
    """The module and the name of a class or function; of another object, those of its class."""
    named = part if hasattr(part, "__qualname__") else type(part)
    return f"{named.__module__}.{named.__qualname__}"


# ---- entry points


class PluginError(Exception):
    """The target of an entry point cannot be loaded; the message has the reason, in one line."""


def entry_points_of(group: str) -> Iterator[EntryPoint]:
    """The entry points of a group, in all installed packages; none of them is loaded yet."""
    yield from entry_points(group=group)


def load(entry: EntryPoint) -> Any:  # noqa: ANN401 - whatever it is
    """Load the target of an entry point.

    Raises:
        PluginError: It cannot be loaded.
    """
    try:
        return entry.load()
    except Exception as error:
        raise PluginError(failure(error)) from error


def contract_fault(contract: int) -> str:
    """Return why a part cannot be used that was written for a contract; "" if it can be used."""
    if contract <= CONTRACT:
        return ""
    return message(
        "config.was-written-for-contract",
        "was written for contract {contract}; this version of Nacre has {newest}. Bring Nacre up "
        "to date",
        contract=contract,
        newest=CONTRACT,
    )


def failure(error: Exception) -> str:
    """A bug of a plug-in in a message about it, in one line."""
    return "fails: " + " ".join(f"{type(error).__name__}: {error}".split())


def describe_entry(entry: EntryPoint) -> str:
    """Format an entry point for a message: its name, its target, and its package."""
    package = package_of(entry)
    facts = {"name": entry.name, "value": entry.value}
    if not package:
        return message("config.plug-in", "the plug-in {name} ({value})", **facts)
    return message(
        "config.plug-in-of-package",
        "the plug-in {name} ({value}) of {package}",
        package=package,
        **facts,
    )


def package_of(entry: EntryPoint) -> str:
    """Return name and version of the package of an entry point; "" if unknown."""
    dist = getattr(entry, "dist", None)
    return f"{dist.name} {dist.version}" if dist is not None else ""


def summary_of(entry: EntryPoint) -> str:
    """The one-line summary of the package that offers an entry point; "" for none."""
    dist = getattr(entry, "dist", None)
    return (dist.metadata["Summary"] or "") if dist is not None else ""
