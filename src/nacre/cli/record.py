"""`nacre record`: what a person's own browser, or a program, requests through a proxy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nacre.cli import output
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson, Quiet
from nacre.core.states import ExitCode
from nacre.ops.record import RecordRequest

if TYPE_CHECKING:
    from nacre.ops.record import Recording


@with_options_of(RecordRequest)
def record(
    *,
    options: RecordRequest,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Directory of the job.", show_default=False)
    ],
    ca: Annotated[
        bool,
        typer.Option(
            "--ca", help="Print the file of the certificate to import into a browser, and exit."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Record what your own browser or a program requests, until Ctrl-C.

    Starts a proxy, and archives all that goes through it in an ordinary job directory. Import the
    certificate into the browser, and set the proxy for HTTP and HTTPS. Again with the same
    directory, the recording goes on.
    """
    from nacre.ops.record import certificate_of, prepare_recording

    if ca:
        output.say(output.format_path(certificate_of(out)))
        return
    from nacre.cli.running import run_and_summarize
    from nacre.job.recording import Recorder

    recording = prepare_recording(options, out)
    for line in _describe(recording):
        output.tell(f"nacre: {line}")
    plan = recording.plan
    try:
        code = run_and_summarize(
            recording.layout, recording.loaded.settings, quiet=quiet, as_json=as_json,
            origin=recording.loaded.origin, companion=lambda session: Recorder(session, plan),
        )  # fmt: skip
    finally:
        plan.sock.close()
    raise typer.Exit(ExitCode.FINISHED if code in _ENDS else code)


_ENDS: Final = (ExitCode.INTERRUPTED, ExitCode.STOPPED)
"""Exit codes of a recording that ended as its operator wanted: Ctrl-C, or `nacre stop`."""


def _describe(recording: "Recording") -> list[str]:
    """Return what a person has to enter into a browser."""
    certificate = output.format_path(recording.certificate)
    lines = [f"the proxy is {recording.address} for HTTP and HTTPS; Ctrl-C ends the recording"]
    lines.append(f"the certificate to import is {certificate}")
    if recording.plan.key:
        lines.append(f"the key is {recording.plan.key}, the password of any user name")
    return lines


COMMANDS: Final = {"record": record}
"""The functions of the commands, by name."""
