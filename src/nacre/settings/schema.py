"""The JSON Schema of `crawl.yaml`, from which editors complete, explain and check while typing."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from nacre.config.facts import fields
from nacre.engine.chain.entry import IN_SCHEMA as PROCESSOR_IN_SCHEMA
from nacre.engine.chain.entry import PROCESSORS
from nacre.scope.heritrix import CLASSES
from nacre.scope.rules.rule import IN_SCHEMA, RULES
from nacre.settings.settings import JobSettings

SHIPPED = Path(__file__).parents[1] / "crawl.schema.json"
"""The schema of this version without plug-ins; `tools.reference` writes it, a test compares."""

BESIDE = ".crawl.schema.json"
"""The copy in a job's directory, where editors find it without a network, wherever the job goes."""

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_FILES = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}

Schema = dict[str, Any]
_Mode = Literal["validation", "serialization"]


def schema() -> Schema:
    """Return the schema, plug-ins included."""
    kinds: list[tuple[type[BaseModel], _Mode]] = [(kind, "validation") for kind in RULES]
    steps: list[tuple[type[BaseModel], _Mode]] = [(kind, "validation") for kind in PROCESSORS]
    refs, combined = models_json_schema([(JobSettings, "validation"), *kinds, *steps])
    definitions: Schema = combined["$defs"]
    job = definitions.pop(_name(refs[JobSettings, "validation"]))
    definitions["Rule"] = _rule(refs[kind] for kind in kinds)
    definitions["Processor"] = _processor(refs[kind] for kind in steps)
    for part in _parts([job, definitions]):
        _tidy(part)
    _any_case(definitions)
    properties: Schema = {
        "include": {
            "description": "Files, or patterns of them, to build on; later files win.",
            **_FILES,
        },
        "profile": {"description": "The profile to build on, by name or file.", "type": "string"},
        **job["properties"],
    }
    definitions["Sheet"] = _sheet(definitions, job["properties"])
    properties["sheets"]["additionalProperties"] = {"$ref": "#/$defs/Sheet"}
    return {
        "$schema": _DIALECT,
        "title": "A job of Nacre",
        "description": "What crawl.yaml may say.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "$defs": definitions,
    }


def _name(ref: Schema) -> str:
    return str(ref["$ref"]).rpartition("/")[2]


def _rule(refs: Iterable[Schema]) -> Schema:
    """Any rule: with its settings, by its name alone, or by Heritrix's name with its settings."""
    heritrix = {
        "type": "object",
        "properties": {"rule": {"pattern": r"(^|\.)(" + "|".join(sorted(CLASSES)) + ")$"}},
        "required": ["rule"],
    }
    names = [kind.model_fields["rule"].default for kind in RULES]
    return {"anyOf": [*refs, heritrix, {"enum": names}]}


def _processor(refs: Iterable[Schema]) -> Schema:
    """Return the schema of any entry of a chain; an inserted entry may have a place."""
    named = {"type": "object", "required": ["processor"]}
    classes = sorted(kind.heritrix for kind in PROCESSORS if kind.heritrix)
    names = [kind.model_fields["processor"].default for kind in PROCESSORS]
    settings: Schema = {"processor": {"enum": [*names, *classes]}}
    return {"anyOf": [*refs, {**named, "properties": settings}, {"enum": names}]}


def _parts(node: object) -> Iterator[Schema]:
    """Yield every mapping in a schema."""
    if isinstance(node, dict):
        yield node
        for value in list(node.values()):
            yield from _parts(value)
    elif isinstance(node, list):
        for value in node:
            yield from _parts(value)


def _tidy(part: Schema) -> None:
    """Remove keys that only Nacre reads, and add the unit."""
    if "live" in part and "sheets" in part and "description" in part:
        unit = part.pop("unit", "")
        del part["live"], part["sheets"]
        if unit:
            part["description"] += f" ({unit})"
        if "$ref" not in part:
            part.pop("title", None)
        sample = part.pop("sample", "")
        if sample:
            part["examples"] = [sample]
    if part.pop(IN_SCHEMA, None):
        part["$ref"] = "#/$defs/Rule"
    if part.pop(PROCESSOR_IN_SCHEMA, None):
        part["$ref"] = "#/$defs/Processor"
    # Words of OpenAPI, which editors of YAML do not support.
    part.pop("discriminator", None)


def _any_case(definitions: Schema) -> None:
    """ACCEPT and REJECT may be written small."""
    decision = definitions.get("Decision")
    if decision:
        decision["enum"] += [name.lower() for name in decision["enum"]]


def _sheet(definitions: Schema, properties: Schema) -> Schema:
    """Return the schema of a sheet: the sections without settings of the whole job, or paths."""
    allowed = {field.path for field in fields(JobSettings) if field.sheets}
    parts: Schema = {}
    for name, part in properties.items():
        section = definitions.get(part.get("$ref", "").rpartition("/")[2])
        if section is None:
            if name in allowed:
                parts[name] = part
            continue
        inner = {
            key: deepcopy(value)
            for key, value in section["properties"].items()
            if f"{name}.{key}" in allowed or "$ref" in value
        }
        if inner:
            parts[name] = {"type": "object", "properties": inner, "additionalProperties": False}
            parts |= {f"{name}.{key}": value for key, value in inner.items()}
    return {
        "description": "Other values for some URIs: by section, or by path.",
        "type": "object",
        "properties": parts,
        "patternProperties": {r"^[a-z_]+\..*\.": True, r"^scope(\.|$)": True, "^chains$": True},
        "additionalProperties": False,
    }
