"""`status` and `explain` look at a job; `pause`, `resume`, `stop` and others control it."""

from typing import TYPE_CHECKING, Annotated

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, Verbose
from nacre.cli.program import LateCallback

if TYPE_CHECKING:
    from nacre.machine.layout import Layout

_PANEL = "While it runs"


def status(directory: JobDir, verbose: Verbose = False, as_json: AsJson = False) -> None:
    """Show the state of a job."""
    from nacre.cli.remedy_advice import remedy_advice
    from nacre.cli.status_text import status_lines
    from nacre.core.message_data import to_plain
    from nacre.job.diagnosis_text import diagnosis_text
    from nacre.machine.clock import SystemClock
    from nacre.machine.layout import Layout
    from nacre.ops.status import read_status

    layout = Layout(directory)
    layout.require()
    if layout.in_rounds:
        _print_rounds(layout, as_json=as_json)
        return
    status = read_status(layout, SystemClock(), policy=verbose or as_json)
    answer = status.numbers
    for name, sentence in status.sentences.items():
        helps = remedy_advice(
            sentence,
            status.slowest,
            output.typed(layout.root),
            is_recording=layout.is_recording,
        )
        answer[name] = {**to_plain(sentence), "text": diagnosis_text(sentence), "helps": helps}
    if as_json:
        output.say_json(answer)
        return
    for line in status_lines(
        answer, output.typed(layout.root), verbose=verbose, is_recording=layout.is_recording
    ):
        output.say(line)


def _print_rounds(layout: "Layout", *, as_json: bool) -> None:
    from nacre.cli.cycle.texts import rounds_lines
    from nacre.core.message_data import to_plain
    from nacre.job.diagnosis import rounds_diagnosis
    from nacre.job.diagnosis_text import diagnosis_text
    from nacre.rounds.rounds_mark import rounds_status

    status = rounds_status(layout)
    if as_json:
        sentence = rounds_diagnosis(status)
        text = {**to_plain(sentence), "text": diagnosis_text(sentence)}
        output.say_json({"cycle": status, "sentence": text})
        return
    for line in rounds_lines(status, output.typed(layout.root)):
        output.say(line)


def explain(
    directory: JobDir,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any URL.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Explain why a URL was or was not crawled, and by which rule."""
    from nacre.cli.explain_text import explanation_lines
    from nacre.cli.page_text import page_lines
    from nacre.core.message_data import to_plain
    from nacre.job.api import explain_url
    from nacre.machine.layout import Layout
    from nacre.ops.rendered_page import rendered_page_of

    Layout(directory).require_runs(f"explain {output.typed(url)}")
    explanation = explain_url(directory, url)
    facts = rendered_page_of(directory, explanation)
    if as_json:
        more = {"page": to_plain(facts)} if facts is not None else {}
        output.say_json({**to_plain(explanation), **more})
        return
    for line in explanation_lines(explanation, output.typed(directory.absolute())):
        output.say(line)
    for line in page_lines(facts) if facts is not None else ():
        output.say(line)


def register_look(app: typer.Typer) -> None:
    """Add `status` and `explain`."""
    for command in (status, explain):
        app.command(rich_help_panel="Look")(command)


_OPERATIONS = {
    "pause": "Pause a job until `resume`; fetches in process are finished.",
    "resume": "Resume a job after a pause.",
    "stop": "Stop a job cleanly, also between the passes of a repeated crawl; it can be resumed.",
    "end": "End a stopped run for good, so that a new run can begin.",
    "checkpoint": "Save the current state for `run --checkpoint`, or list the saved checkpoints.",
    "parallel": "Change the number of parallel fetches, until the job ends.",
}
"""The summaries of operations, as `ops.lifecycle` has them: the list of all commands must be quick,
and imports none of them."""


def register(app: typer.Typer) -> None:
    """Add the commands of operations on a job that runs."""
    for name, summary in _OPERATIONS.items():
        late = LateCallback(name, summary, "nacre.cli.lifecycle:COMMANDS")
        app.command(name, rich_help_panel=_PANEL)(late)
