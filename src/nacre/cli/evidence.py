"""`nacre archive DIR evidence` and `nacre archive FILE verify-evidence`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from nacre.cli import output
from nacre.cli.installing import Yes, offering
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson, job_of
from nacre.core.message_data import to_plain
from nacre.core.states import ExitCode
from nacre.errors import DamageError
from nacre.machine.layout import Layout
from nacre.ops.evidence import EvidenceRequest, EvidenceResult, EvidenceRoots
from nacre.report.formatting import size

if TYPE_CHECKING:
    from nacre.packing.verify_evidence import VerifiedEvidence


@with_options_of(EvidenceRequest)
def evidence(
    ctx: typer.Context,
    url: Annotated[str, typer.Argument(metavar="URL", help="URL.", show_default=False)],
    *,
    options: EvidenceRequest,
    as_json: AsJson = False,
    _yes: Yes = False,
) -> None:
    """Pack a capture as evidence: a WACZ with its records and what proves their origin.

    DIR is the directory of a job, the name of a collection, or a WARC or WACZ file. The package has
    the records of the capture, of a revisit its original, the certificate chain of the server, the
    text of `explain`, the citation, and the digests of all files. With --timestamp a time-stamping
    service signs the digest of their list.
    """
    from nacre.ops.evidence import make_evidence

    target = job_of(ctx)

    def run() -> EvidenceResult:
        return make_evidence(str(target), url, options, lambda address: _explain(target, address))

    needs = ("timestamps need", "evidence")
    result = offering(ctx, run, needs) if options.timestamp else run()
    if as_json:
        output.say_json(to_plain(result))
        return
    for line in _warnings(result):
        output.tell(f"nacre: warning: {line}")
    path, citation = output.format_path(result.path), result.citation
    output.say(f"{path}: {citation.url} of {citation.date}, {size(result.bytes)}")
    if result.timestamp is not None:
        output.say(f"timestamp: {result.timestamp.time} {result.timestamp.service}".rstrip())


def _explain(target: Path, url: str) -> str:
    """Return the text of `explain` for a job that ran; "" for other targets."""
    layout = Layout(target)
    if not layout.config.is_file():
        return ""
    if layout.in_rounds:
        from nacre.cli.cycle.explain_text import explain_lines
        from nacre.cli.operations import run_operation
        from nacre.ops.round_readers import EXPLAIN, ExplainRowRequest

        explanation = run_operation(EXPLAIN, target, ExplainRowRequest(url=url))
        return "\n".join(explain_lines(explanation)) + "\n"
    if not layout.has_store:
        return ""
    from nacre.cli.explain_text import explanation_lines
    from nacre.job.api import explain_url

    return "\n".join(explanation_lines(explain_url(target, url))) + "\n"


def _warnings(result: EvidenceResult) -> list[str]:
    lines = []
    if result.is_tls and not result.has_chain:
        lines.append("the certificate chain of the server was not recorded with this capture")
    if result.timestamp is not None and not result.timestamp.is_trusted:
        lines.append(
            f"the signature of the timestamp was not verified: {result.timestamp.reason}. Name the "
            "root certificate of the service with --timestamp-roots"
        )
    return lines


@with_options_of(EvidenceRoots)
def verify_evidence(ctx: typer.Context, *, options: EvidenceRoots, as_json: AsJson = False) -> None:
    """Verify evidence: its files, records, timestamp and certificate chain.

    DIR is the file. `open` means that a check neither proves nor disproves; `absent` that the
    package has nothing to check. The exit code is 0 unless a check failed.
    """
    from nacre.ops.evidence import check_evidence

    try:
        result = check_evidence(job_of(ctx), options)
    except DamageError as error:
        output.complain(error, ExitCode.DAMAGED)
        raise typer.Exit(ExitCode.DAMAGED) from None
    if as_json:
        output.say_json({**_plain(result), "is_sound": result.is_sound})
    else:
        rows = [(check.name, check.outcome, check.text) for check in result.checks]
        output.say(output.table(rows, indent=""))
    raise typer.Exit(0 if result.is_sound else ExitCode.DAMAGED)


def _plain(result: "VerifiedEvidence") -> dict[str, Any]:
    plain: dict[str, Any] = to_plain(result)
    return plain


COMMANDS: Final = {"evidence": evidence, "verify-evidence": verify_evidence}
"""The functions of the commands, by name."""
