"""Rules and processors of installed plug-ins, by the entry point `nacre.components`."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

from nacre.config.component import CONTRACT
from nacre.job.chain.entry import Entry
from nacre.job.chain.processors import PROCESSORS
from nacre.scope.rules import RULES, Rule

GROUP = "nacre.components"


def rules_of_plugins() -> Iterator[type[Rule] | str]:
    """Every rule that an installed package offers; a text for what cannot be used, and why."""
    for found in _offered():
        if isinstance(found, str) or issubclass(found, Rule):
            yield found


def processors_of_plugins() -> Iterator[type[Entry] | str]:
    """Every processor, likewise."""
    for found in _offered():
        if isinstance(found, str) or issubclass(found, Entry):
            yield found


def use_plugins() -> None:
    """Look for them once a configuration names what is not known; until then they cost nothing."""
    RULES.when_missing(rules_of_plugins)
    PROCESSORS.when_missing(processors_of_plugins)


def load_plugins() -> None:
    """Know all of them now."""
    use_plugins()
    RULES.load()
    PROCESSORS.load()


def _offered() -> Iterator[type[Rule] | type[Entry] | str]:
    for entry in entry_points(group=GROUP):
        try:
            found = entry.load()
        except Exception as error:  # noqa: BLE001 - it is a stranger's code
            yield f"{_named(entry)} fails: {type(error).__name__}: {error}"
            continue
        fault = _fault(found)
        if fault:
            yield f"{_named(entry)} {fault}"
        else:
            yield found


def _named(entry: EntryPoint) -> str:
    dist = getattr(entry, "dist", None)
    of = f" of {dist.name} {dist.version}" if dist is not None else ""
    return f"the plug-in {entry.name} ({entry.value}){of}"


def _fault(found: object) -> str:
    """Why an object is no plug-in; "" when it is one."""
    if not isinstance(found, type) or not issubclass(found, Rule | Entry):
        return "is neither a Rule nor an Entry"
    if not found.contract:
        return "does not say for which contract it was written: `contract = 1`"
    if found.contract > CONTRACT:
        return (
            f"was written for contract {found.contract}; this version of Nacre has {CONTRACT}. "
            "Bring Nacre up to date"
        )
    return ""
