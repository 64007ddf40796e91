"""`status` and `explain` look at a job; `pause`, `resume`, `stop` and others control it."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir, Verbose
from nacre.core.clock import iso

if TYPE_CHECKING:
    from nacre.job.background.checkpoints import ListedCheckpoint
    from nacre.job.sentence import CrowdedKind
    from nacre.job.sentence_facts import JobStatus
    from nacre.runs.passes import RecurringCrawl
    from nacre.store.layout import Layout

_PANEL = "While it runs"


def _require_no_rounds(layout: "Layout") -> None:
    """Raise JobError for a batch crawl, which no command controls."""
    from nacre.errors import JobError

    if layout.in_rounds:
        raise JobError(
            f"{layout.root} is crawled in rounds: Ctrl-C in their terminal or a file "
            f"{layout.control / 'stop'} ends them after the step, and `nacre cycle {layout.root} "
            "--rounds 1` goes on"
        )


def _ask(directory: Path, command: str, **arguments: object) -> dict[str, Any]:
    from nacre.errors import JobError
    from nacre.job.control import is_running, send_command
    from nacre.store.layout import Layout

    layout = Layout(directory)
    layout.require()
    _require_no_rounds(layout)
    if not is_running(layout.socket):
        from nacre.inspect.view import is_finished
        from nacre.runs.passes import find_recurring

        again = find_recurring(layout)
        if again is not None and again.waits:
            raise JobError(
                f"{directory} waits for its next pass ({again.rhythm}), so that nothing runs now; "
                f"`nacre stop {directory}` ends that"
            )
        next_ = (
            f"it is finished, and `nacre recrawl {directory}` visits it again"
            if is_finished(layout)
            else f"start or resume it with `nacre run {directory}`"
        )
        raise JobError(f"{directory} is not running; {next_}")
    return send_command(layout.socket, command, **arguments)


def _print(answer: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        output.say_json(answer)
    else:
        output.say(text)


def _ending(what: str, busy: int) -> str:
    if not busy:
        return what
    return f"{what}; {output.count(busy, 'fetch is', 'fetches are')} finished first"


Reason = Annotated[
    str,
    typer.Option(
        "--reason", metavar="NAME", show_default=False,
        help="A reason of your own, such as quota: it holds over restarts, whether the job runs "
        "or not, until it is resumed by name.",
    ),
]  # fmt: skip


def pause(
    directory: JobDir,
    reason: Reason = "",
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="More about it, for job.log.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Pause a job until `resume`; fetches in process are finished."""
    if reason and _changed_at_rest(directory, reason, note):
        _print({"held": [reason]}, f"will pause at its start, for: {reason}", as_json=as_json)
        return
    words = {"reason": reason, "note": note}
    answer = _ask(directory, "hold", **words) if reason else _ask(directory, "pause")
    _print(answer, _ending("pausing", answer["busy"]), as_json=as_json)


def _changed_at_rest(directory: Path, reason: str, note: str | None) -> bool:
    """Note or remove a hold of a job that does not run; False when it runs."""
    from nacre.job.control import is_running
    from nacre.job.holds import change_hold
    from nacre.store.layout import Layout

    layout = Layout(directory)
    layout.require()
    _require_no_rounds(layout)
    if is_running(layout.socket):
        return False
    change_hold(layout.control, reason, note)
    return True


def resume(directory: JobDir, reason: Reason = "", as_json: AsJson = False) -> None:
    """Resume a job after a pause."""
    if reason and _changed_at_rest(directory, reason, None):
        _print({"held": []}, f"will not pause for {reason}", as_json=as_json)
        return
    answer = _ask(directory, "release", reason=reason) if reason else _ask(directory, "resume")
    held = answer["held"]
    text = f"still paused, for: {', '.join(held)}" if held else "resumed"
    _print(answer, text, as_json=as_json)


def stop(directory: JobDir, as_json: AsJson = False) -> None:
    """Stop a job cleanly, also between the passes of a repeated crawl; it can be resumed."""
    from nacre.job.control import is_running
    from nacre.runs.passes import find_recurring
    from nacre.store.layout import Layout

    layout = Layout(directory)
    layout.require()
    _require_no_rounds(layout)
    again = find_recurring(layout)
    if again is not None and again.waits and not is_running(layout.socket):
        _stop_between(layout, again, as_json=as_json)
        return
    answer = _ask(directory, "stop")
    what = "stopping"
    if again is not None and again.waits:
        what += f", and no further pass begins ({again.rhythm})"
    _print(answer, _ending(what, answer["busy"]), as_json=as_json)


_PATIENCE = 60
"""Moments that the end of a wait may take; it is looked for once a second."""
_MOMENT = 0.5


def _stop_between(layout: "Layout", again: "RecurringCrawl", *, as_json: bool) -> None:
    import time
    from itertools import count

    from nacre.runs.passes import end_passes

    moments = count(1)

    def patience() -> bool:
        time.sleep(_MOMENT)
        return next(moments) < _PATIENCE

    ended = end_passes(layout, patience)
    text = (
        f"stopped: no further pass begins; `nacre recrawl {layout.root} {again.rhythm}` resumes it"
        if ended
        else f"process {again.pid} was asked to end, and has not ended yet"
    )
    _print({"ok": True, "busy": 0, "ended": ended}, output.to_copy(text), as_json=as_json)


def end(directory: JobDir, as_json: AsJson = False) -> None:
    """End a stopped run for good, so that a new run can begin.

    A run that was stopped, interrupted or cut off can be gone on with, and until then `recrawl` is
    refused. After `end` it is over: the next run begins with the seeds again. What waits in its
    queue is dropped when that run begins; archive, history and logs stay.
    """
    from nacre.errors import JobError
    from nacre.inspect.view import end_run
    from nacre.job.control import is_running
    from nacre.settings.load import load_job
    from nacre.store.layout import Layout

    layout = Layout(directory)
    layout.require()
    _require_no_rounds(layout)
    if is_running(layout.socket):
        raise JobError(f"{directory} is running; `nacre stop {directory}` comes first")
    run, is_new = end_run(layout, load_job(layout).settings)
    said = "is over for good" if is_new else "was over already"
    text = (
        f"the run {run.name} {said}; `nacre recrawl {directory} --full` visits everything in a new "
        f"one, `nacre recrawl {directory}` what is worth it"
    )
    _print({"run": run.name, "exit": str(run.exit), "ended": is_new}, text, as_json=as_json)


def checkpoint(
    directory: JobDir,
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Name of the checkpoint; default: cpNUMBER-TIME.",
            show_default=False,
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the checkpoints, the oldest first, and make none.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Save the present state, to go back to with `run --checkpoint`; or list what is saved."""
    if listed:
        _list_checkpoints(directory, as_json=as_json)
        return
    answer = _ask(directory, "checkpoint", name=name or "")
    text = (
        f"checkpoint {answer['name']}; go back to it, once the job is stopped, with "
        f"`nacre run {directory} --checkpoint {answer['name']}`"
        if answer["name"]
        else "nothing has changed since the last checkpoint, so there is no new one"
    )
    _print(answer, text, as_json=as_json)


def _list_checkpoints(directory: Path, *, as_json: bool) -> None:
    from nacre.job.background.checkpoints import list_checkpoints
    from nacre.store.layout import Layout

    layout = Layout(directory)
    layout.require()
    _require_no_rounds(layout)
    found = list(list_checkpoints(layout))
    if as_json:
        output.say_json([_facts(each) for each in found])
    elif found:
        rows = [
            tuple("?" if fact is None else str(fact) for fact in _facts(each).values())
            for each in found
        ]
        output.say(output.table([("name", "made", "run", "done", "waiting"), *rows]))
    else:
        output.say(f"no checkpoints yet; `nacre checkpoint {directory}` makes one")


def _facts(checkpoint: "ListedCheckpoint") -> dict[str, str | int | None]:
    moment = checkpoint.moment
    return {
        "name": checkpoint.name,
        "made": iso(checkpoint.made),
        "run": moment.run if moment else None,
        "finished": moment.finished if moment else None,
        "queued": moment.queued if moment else None,
    }


def parallel(
    directory: JobDir,
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="Number of parallel fetches.")],
    as_json: AsJson = False,
) -> None:
    """Change the number of parallel fetches, until the job ends."""
    answer = _ask(directory, "parallel", number=number)
    _print(answer, f"{answer['before']} -> {answer['parallel']} fetches", as_json=as_json)


def status(directory: JobDir, verbose: Verbose = False, as_json: AsJson = False) -> None:
    """Show the state of a job."""
    import msgspec

    from nacre.cli.lever_advice import lever_advice
    from nacre.cli.status_text import status_lines
    from nacre.engine.clock import SystemClock
    from nacre.job.control import NotRunningError, send_command
    from nacre.job.lately import NO_LINES, last_lines
    from nacre.job.overview import name_sharers
    from nacre.job.sentence import crowd_sentence, sentence_of
    from nacre.job.sentence_facts import job_status, sentence_facts
    from nacre.job.sentence_words import words
    from nacre.runs.passes import find_recurring
    from nacre.store.layout import Layout

    layout = Layout(directory)
    layout.require()
    if layout.in_rounds:
        _say_rounds(layout, as_json=as_json)
        return
    again = find_recurring(layout)
    try:
        answer = send_command(layout.socket, "status")
        answer.pop("ok")
        lines = last_lines(layout)
    except NotRunningError:
        answer = _stored_status(layout, policy=verbose or as_json)
        lines = NO_LINES
    answer["recurring"] = msgspec.to_builtins(again)
    told = job_status(answer)
    crowded = _crowded(layout, told)
    sentence = sentence_of(sentence_facts(told, SystemClock().now(), lines, crowded))
    spoken = {"sentence": sentence}
    if crowded is not None:
        spoken["crowded"] = crowd_sentence(crowded, grows=told.pace.grows)
    for name, one in spoken.items():
        helps = lever_advice(one, told.slowest, output.typed(layout.root))
        answer[name] = {**msgspec.to_builtins(one), "text": words(one), "helps": helps}
    name_sharers(layout.root, answer["slowest"], SystemClock())
    if as_json:
        output.say_json(answer)
        return
    for line in status_lines(answer, output.typed(layout.root), verbose=verbose):
        output.say(line)


def _crowded(layout: "Layout", status: "JobStatus") -> "CrowdedKind | None":
    """The kind of URLs that most of what waits is of; looked for only while very much waits."""
    if not status.pace.grows:
        return None
    from nacre.errors import NacreError
    from nacre.inspect.view import reading
    from nacre.job.crowding import crowded_queue, find_crowded_kind
    from nacre.settings.load import load_job

    queue = crowded_queue(status.overview, status.slowest, grows=True)
    if queue is None:
        return None
    with suppress(NacreError), reading(layout, load_job(layout).settings) as view:
        return find_crowded_kind(view.store, queue.name)
    return None  # it ended just now, or its store cannot be read: the numbers are said anyway


def _say_rounds(layout: "Layout", *, as_json: bool) -> None:
    import msgspec

    from nacre.cli.cycle.state import rounds_lines
    from nacre.cycle.status import rounds_status
    from nacre.job.sentence import rounds_sentence
    from nacre.job.sentence_words import words

    found = rounds_status(layout)
    sentence = rounds_sentence(found)
    if as_json:
        said = {**msgspec.to_builtins(sentence), "text": words(sentence)}
        output.say_json({"cycle": found, "sentence": said})
        return
    for line in rounds_lines(found, output.typed(layout.root)):
        output.say(line)


def _stored_status(layout: "Layout", *, policy: bool) -> dict[str, Any]:
    """The numbers of a job that does not run.

    The settings are read only where the policy is asked for, or the job never ran: they take
    longer than all else.
    """
    import msgspec

    from nacre.inspect.stored_job import reading_store
    from nacre.job.overview import JobOverview, stored_overview
    from nacre.runs.runs import read_run

    overview = JobOverview("NASCENT")
    if layout.has_store:
        with reading_store(layout) as store:
            overview = stored_overview(store, read_run(store))
    if policy and overview.state != "NASCENT":
        from nacre.inspect.reports.policy_text import policy_lines
        from nacre.settings.load import load_job

        lines = tuple(policy_lines(load_job(layout).settings))
        overview = msgspec.structs.replace(overview, policy=lines)
    facts = {"overview": msgspec.to_builtins(overview), "slowest": [], "fetching": []}
    if overview.state != "NASCENT":
        return facts
    from nacre.job.start_survey import kept_from_start  # late: it brings the settings along

    return facts | kept_from_start(layout)


def explain(
    directory: JobDir,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any URL.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Explain why a URL was or was not crawled, and by which rule."""
    import msgspec

    from nacre.cli.explain_text import explanation_lines
    from nacre.job.api import explain_url
    from nacre.store.layout import Layout

    Layout(directory).require_runs(f"explain {output.typed(url)}")
    explanation = explain_url(directory, url)
    if as_json:
        output.say_json(msgspec.to_builtins(explanation))
        return
    for line in explanation_lines(explanation, output.typed(directory.absolute())):
        output.say(line)


def register_look(app: typer.Typer) -> None:
    """Add `status` and `explain`."""
    for command in (status, explain):
        app.command(rich_help_panel="Look")(command)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (pause, resume, stop, end, checkpoint, parallel):
        app.command(rich_help_panel=_PANEL)(command)
