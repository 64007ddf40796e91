"""Sheets and associations as the operator sees and writes them."""

from collections.abc import Sequence
from typing import Any

from nacre.config.layer import assignment_layer
from nacre.config.secret import masked
from nacre.config.sheet import flat
from nacre.errors import ConfigError, JobError
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import STOCK


def overview(settings: JobSettings) -> list[dict[str, Any]]:
    """Each sheet: name, number of settings, what it is for."""
    return [
        {"sheet": name, "settings": len(flat(tree, settings)), "for": _uses(settings, name)}
        for name, tree in {**STOCK, **settings.sheets}.items()
    ]


def shown(settings: JobSettings, name: str) -> dict[str, Any]:
    """The settings of a sheet, and what it is for.

    Raises:
        JobError: There is none of that name.
    """
    every = {**STOCK, **settings.sheets}
    if name not in every:
        raise JobError(f"there is no sheet {name!r}; there are {', '.join(every)}")
    values = masked(flat(every[name], settings))
    return {**values, "for": ", ".join(_uses(settings, name)) or "nothing"}


def _uses(settings: JobSettings, name: str) -> list[str]:
    found: list[str] = []
    for said in settings.sheet_associations:
        if name in said.sheets:
            found += said.surts
            found += [f"the prefixes of {said.surts_file}"] if said.surts_file else []
            found += [f"rule {rule.label}" for rule in said.all_rules]
    return found


def association(
    names: Sequence[str], surts: Sequence[str], rule: str, order: int
) -> dict[str, Any]:
    """What `sheet_associations` says of sheets and prefixes, or a rule in YAML.

    Raises:
        ConfigError: The rule is no YAML.
    """
    said: dict[str, Any] = {"sheets": list(names)}
    if surts:
        said["surts"] = list(surts)
    if rule:
        layer = assignment_layer([f"rule={rule}"])
        if layer.problems:
            raise ConfigError(layer.problems)
        said["rule"] = layer.tree["rule"]
    return said | ({"order": order} if order else {})
