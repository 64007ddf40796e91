"""What `nacre check --explain` says of one setting."""

from nacre.config.check import Loaded
from nacre.config.facts import fields, value_at
from nacre.errors import ConfigError
from nacre.job.settings import JobSettings


def explained(loaded: Loaded[JobSettings] | None, path: str) -> dict[str, str]:
    """Value, origin, default, meaning, unit.

    Raises:
        ConfigError: There is no such setting.
    """
    if loaded is None:
        raise ConfigError("the settings cannot be read; see `nacre check` without --explain")
    value = value_at(loaded.settings, path)
    facts = next((field for field in fields(JobSettings) if field.path == path), None)
    if facts is None:
        inner = [field.path for field in fields(JobSettings) if field.path.startswith(path + ".")]
        raise ConfigError(f"{path} holds several settings: {', '.join(inner)}")
    text = {
        "setting": path,
        "value": _shown(value),
        "from": str(loaded.origin(path)),
        "default": _shown(facts.default),
        "meaning": facts.doc,
        "type": facts.type,
    }
    if facts.unit:
        text["unit"] = facts.unit
    return text


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, tuple) and all(hasattr(item, "rule") for item in value):
        return ", ".join(getattr(item, "label", str(item)) for item in value) or "()"
    return repr(value) if isinstance(value, str) and not value else str(value)
