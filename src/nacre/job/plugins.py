"""Rules of installed plug-ins, by the entry point `nacre.components`."""

from collections.abc import Iterator
from importlib.metadata import entry_points

from nacre.scope.decide import Rule

GROUP = "nacre.components"


def rules_of_plugins() -> Iterator[type[Rule]]:
    """Every rule that an installed package offers.

    Raises:
        ValueError: A package offers what cannot be loaded.
    """
    for entry in entry_points(group=GROUP):
        try:
            found = entry.load()
        except Exception as error:
            raise ValueError(f"the plug-in {entry.name} ({entry.value}) fails: {error}") from error
        if isinstance(found, type) and issubclass(found, Rule):
            yield found
