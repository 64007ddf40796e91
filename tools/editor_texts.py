"""What the editors of settings say in words, for the catalogues of the console.

The meanings and units of all settings, and of those of rules and processors; what rules and
processors do; keys that only files have; profiles and clips that come with Nacre.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

from pydantic import BaseModel

from nacre.config.component import Component
from nacre.config.facts import facts_of
from nacre.crawldb.scoring import SCORINGS
from nacre.editing.clips import clip_of
from nacre.editing.places import BESIDE, CHANGES, STOCK_SHEET, TOP, first_sentence
from nacre.engine.chain.entry import PROCESSORS
from nacre.scope.rules.stock import RULES
from nacre.search.filters import FILTERS
from nacre.search.writer_kinds import WRITERS
from nacre.settings.settings import JobSettings

SOURCE: Final = Path(__file__).parents[1] / "src" / "nacre"


def editor_texts() -> Iterator[tuple[str, str]]:
    """Yield the texts, each with the file or folder that has it."""
    for place, text in (*_keys(), *_shipped(), *_settings()):
        if text.strip():
            yield place, text


def kinds() -> list[type[Component]]:
    """What a list of a file can name: rules, processors, scores, writers and filters."""
    component_kinds: list[type[Component]] = []
    for registry in (RULES, PROCESSORS, SCORINGS, WRITERS, FILTERS):
        registry.load_plugins()
        component_kinds += registry
    return component_kinds


def models() -> Iterator[type[BaseModel]]:
    """Yield the models of all settings, those of rules and processors among them, each once."""
    todo: list[object] = [JobSettings, *kinds()]
    seen_kinds: set[object] = set()
    while todo:
        kind = todo.pop(0)
        todo += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in seen_kinds:
            seen_kinds.add(kind)
            todo += [info.annotation for info in kind.model_fields.values()]
            yield kind


def _settings() -> Iterator[tuple[str, str]]:
    named = frozenset(kinds())
    for model in models():
        if not model.__module__.startswith("nacre."):
            continue
        if model in named:
            yield "settings", getattr(model, "fixed", "")
            yield "settings", first_sentence(model)
        for name, info in model.model_fields.items():
            facts = facts_of(name, info)
            yield "settings", facts.doc
            yield "settings", facts.unit
            if name in {"rule", "processor"} and not facts.doc:
                yield "settings", f"The name of the {name}."


def _keys() -> Iterator[tuple[str, str]]:
    for doc in (*CHANGES.values(), *TOP.values(), *BESIDE.values(), STOCK_SHEET):
        yield "editing/places.py", doc


def _shipped() -> Iterator[tuple[str, str]]:
    """Yield the purposes of profiles and clips that come with Nacre, and of their parameters."""
    for path in sorted((SOURCE / "profiles").glob("*.yaml")):
        first = path.read_text("utf-8").partition("\n")[0]
        yield f"profiles/{path.name}", first.removeprefix("#").strip()
    for path in sorted((SOURCE / "clips").glob("*.yaml")):
        clip = clip_of(path.read_text("utf-8"), path.stem, "shipped", path.name)
        yield f"clips/{path.name}", clip.title
        yield from (
            (f"clips/{path.name}", parameter.means) for parameter in clip.parameters.values()
        )
