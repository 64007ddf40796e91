"""`nacre archive DIR check` as text and as JSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nacre.archive.check import Checker
from nacre.archive.finding import CODES, Finding, Severity
from nacre.cli.output import count, shown, table
from nacre.config.documents import document
from nacre.report.units import size


def check_data(checker: Checker) -> dict[str, Any]:
    """All findings and counts."""
    summary = checker.summary
    return {
        "damaged": checker.damaged,
        "files": summary.files,
        "bytes": summary.bytes,
        "records": dict(summary.records),
        "digests": summary.digests,
        "rebuilt": summary.rebuilt,
        "counts": dict(summary.findings),
        "findings": [
            {**finding._asdict(), "severity": str(finding.severity)} for finding in checker.findings
        ],
    }


def check_lines(checker: Checker, root: Path, *, notes: bool) -> Iterator[str]:
    """Findings, then a summary."""
    for finding in checker.findings:
        if notes or finding.severity is Severity.ERROR:
            yield _line(finding, root)
    summary = checker.summary
    records = sum(summary.records.values())
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in summary.records.most_common())
    yield (
        f"{count(summary.files, 'file')}, {size(summary.bytes)}, {count(records, 'record')}"
        + (f": {kinds}" if kinds else "")
    )
    yield f"{count(summary.digests, 'digest')} compared"
    if summary.decoded or summary.wire:
        yield (
            f"chunked bodies: {summary.decoded:,} digests over the decoded payload (the standard), "
            f"{summary.wire:,} over the bytes as sent"
        )
    if summary.rebuilt:
        yield f"{count(summary.rebuilt, 'reply', 'replies')} rebuilt from differences"
    yield from _counts(checker)
    if checker.damaged:
        page = shown(Path(document("howto.md")))
        yield f"damaged; what can be done stands in {page} under Repair"
    else:
        yield "nothing damaged" if summary.files else "nothing to check: there are no WARCs yet"


def _counts(checker: Checker) -> Iterator[str]:
    findings = checker.summary.findings
    if findings:
        yield table(
            [
                (number, str(CODES[code][0]), code, CODES[code][1])
                for code, number in sorted(findings.items())
            ]
        )


def _line(finding: Finding, root: Path) -> str:
    path = Path(finding.file)
    name = path.relative_to(root) if path.is_relative_to(root) else path
    return f"{name}:{finding.offset}: {finding.severity} {finding.code}: {finding.message}"
