"""What becomes of a property of Nutch."""

from nacre.migrate.fate import Fate, defaulted, mapped, missing, shown, to_check
from nacre.migrate.nutch.conf import Property
from nacre.migrate.nutch.defaults import DEFAULTS
from nacre.migrate.report import Finding

__all__ = ["Fate", "Fates", "defaulted", "finding", "mapped", "missing", "to_check"]

Fates = dict[str, Fate]
"""By name of the property."""


def finding(fate: Fate, prop: Property) -> Finding:
    """The finding for the report, which holds no secrets."""
    stock = prop.value == DEFAULTS.get(prop.name)
    value = prop.value if stock else shown(prop.name, prop.value)
    return Finding(
        prop.name, value, prop.file, prop.line, fate.outcome, fate.target, fate.note, fate.flag
    )
