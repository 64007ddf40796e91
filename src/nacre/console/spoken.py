"""Findings, hints and problems in the language of a reader (pure).

Names of settings and samples stay as they are.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from nacre.console.catalogue import Language
from nacre.editing.complete import CompletionItem, Completions
from nacre.editing.findings import TextFinding, TextFindings
from nacre.editing.hover import HoverCard
from nacre.web.problems import ProblemDetails


def spoken_problem(problem: ProblemDetails, language: Language) -> ProblemDetails:
    """Return a refusal in a language."""
    return msgspec.structs.replace(
        problem,
        title=language.text(problem.title),
        detail=language.text(problem.detail),
        problems=tuple(_problem(item, language) for item in problem.problems),
    )


def _problem(item: Mapping[str, Any], language: Language) -> dict[str, Any]:
    texts = {
        "message": language.text(item.get("message", "")),
        "expected": language.text(item.get("expected", "")),
    }
    return {**item, **{name: text for name, text in texts.items() if text}}


def spoken_findings(findings: TextFindings, language: Language) -> TextFindings:
    """Return the findings of a text in a language."""
    return msgspec.structs.replace(
        findings,
        problems=tuple(_finding(problem, language) for problem in findings.problems),
        warnings=tuple(_finding(warning, language) for warning in findings.warnings),
    )


def _finding(finding: TextFinding, language: Language) -> TextFinding:
    fixes = [msgspec.structs.replace(fix, label=language.text(fix.label)) for fix in finding.fixes]
    return msgspec.structs.replace(
        finding,
        message=language.text(finding.message),
        expected=language.text(finding.expected),
        fixes=tuple(fixes),
    )


def spoken_card(card: HoverCard, language: Language) -> HoverCard:
    """Return the meaning of a word in a language."""
    return msgspec.structs.replace(card, doc=language.text(card.doc), type=language.text(card.type))


def spoken_completions(completions: Completions, language: Language) -> Completions:
    """Return completions in a language."""
    return msgspec.structs.replace(
        completions, items=tuple(_item(item, language) for item in completions.items)
    )


def _item(item: CompletionItem, language: Language) -> CompletionItem:
    return msgspec.structs.replace(
        item, detail=language.text(item.detail), doc=language.text(item.doc)
    )
