"""Editors of settings: which a setting has, its value as text, and what a text means (pure)."""

from textwrap import dedent
from typing import Any

from pydantic import BaseModel

from nacre.config.document import read_yaml, yaml_text
from nacre.config.facts import FieldFacts, choices_of, type_at
from nacre.config.secret import Secret, masked
from nacre.errors import ConfigError
from nacre.job.settings_change import plain
from nacre.settings.settings import JobSettings


def editor_of(facts: FieldFacts, model: type[BaseModel] = JobSettings) -> str:
    """The kind of editor of a setting: `flag`, `choice`, `scalar`, `text`, `lines` or `yaml`.

    Args:
        facts: About the setting.
        model: What its path leads from.
    """
    if facts.type == "true or false":
        return "flag"
    if facts.type in {"text", "list of text"}:
        return "text" if facts.type == "text" else "lines"
    if facts.type.removesuffix(" or none") in {"number", "whole number"}:
        return "scalar"
    choices = choices_of(type_at(model, facts.path.split("."), None))
    if (
        choices
        and all(f"`{choice}`" in facts.type for choice in choices)
        and " or none" not in facts.type
    ):
        return "choice"
    return "yaml"


def field_text(kind: str, value: object, path: str = "") -> str:
    """A value as its editor shows it; of a secret its reference.

    Args:
        kind: As `editor_of` says.
        value: The value.
        path: The setting.
    """
    said = masked(plain(value), path)
    if kind == "lines" and isinstance(said, list):
        return "\n".join(map(str, said))
    if isinstance(said, bool):
        return str(said).lower()
    if kind == "yaml" and said in ([], {}, None, ""):
        return ""
    if isinstance(said, float):
        return f"{said:g}"
    if isinstance(said, list | dict) or isinstance(value, Secret):
        text = yaml_text(said) if isinstance(said, list | dict) else str(said)
        return dedent(text).strip()
    return "" if said is None else str(said)


def value_of(kind: str, text: str) -> Any:  # noqa: ANN401 - YAML
    """The value that a text of an editor stands for.

    Args:
        kind: As `editor_of` says.
        text: The text.

    Raises:
        ConfigError: It is not YAML.
    """
    text = text.replace("\r\n", "\n")
    if kind == "text":
        return text
    if kind == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()]
    if kind == "choice" and not text.replace(".", "").isdigit():
        return text.strip()
    layer = read_yaml("value:\n" + "".join(f"  {line}\n" for line in text.split("\n")), "form")
    if layer.problems:
        raise ConfigError(layer.problems)
    return layer.tree.get("value")
