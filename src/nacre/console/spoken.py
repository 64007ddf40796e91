"""Findings, hints and problems in the language of a reader (pure).

They are made in English by what checks settings and answers requests. Names of settings and
samples stay as they are.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.console.catalogue import Language
from nacre.console.problems import ProblemDetails
from nacre.editing.complete import CompletionItem, Completions
from nacre.editing.findings import TextFinding, TextFindings
from nacre.editing.hover import HoverCard


def spoken_problem(problem: ProblemDetails, spoken: Language) -> ProblemDetails:
    """A refusal in a language.

    Args:
        problem: It.
        spoken: The language.
    """
    return msgspec.structs.replace(
        problem,
        title=spoken.text(problem.title),
        detail=spoken.text(problem.detail),
        problems=tuple(_problem(one, spoken) for one in problem.problems),
    )


def _problem(one: Mapping[str, Any], spoken: Language) -> dict[str, Any]:
    said = {
        "message": spoken.text(one.get("message", "")),
        "expected": spoken.text(one.get("expected", "")),
    }
    return {**one, **{name: text for name, text in said.items() if text}}


def spoken_findings(found: TextFindings, spoken: Language) -> TextFindings:
    """The findings of a text in a language.

    Args:
        found: They.
        spoken: The language.
    """
    return msgspec.structs.replace(
        found,
        problems=tuple(_finding(problem, spoken) for problem in found.problems),
        warnings=tuple(_finding(warning, spoken) for warning in found.warnings),
    )


def _finding(finding: TextFinding, spoken: Language) -> TextFinding:
    fixes = [msgspec.structs.replace(fix, label=spoken.text(fix.label)) for fix in finding.fixes]
    return msgspec.structs.replace(
        finding,
        message=spoken.text(finding.message),
        expected=spoken.text(finding.expected),
        fixes=tuple(fixes),
    )


def spoken_card(card: HoverCard, spoken: Language) -> HoverCard:
    """The meaning of a word in a language.

    Args:
        card: It.
        spoken: The language.
    """
    return msgspec.structs.replace(card, doc=spoken.text(card.doc), type=spoken.text(card.type))


def spoken_completions(found: Completions, spoken: Language) -> Completions:
    """Completions in a language.

    Args:
        found: They.
        spoken: The language.
    """
    return msgspec.structs.replace(found, items=tuple(_item(item, spoken) for item in found.items))


def _item(item: CompletionItem, spoken: Language) -> CompletionItem:
    return msgspec.structs.replace(item, detail=spoken.text(item.detail), doc=spoken.text(item.doc))
