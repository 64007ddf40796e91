"""`pause`, `resume`, `stop`, `checkpoint`, `parallel`: what a running job can be told."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.options import AsJson, JobDir
from nacre.core.stamp import iso

if TYPE_CHECKING:
    from nacre.job.companions.checkpointing import Listed
    from nacre.job.layout import Layout
    from nacre.job.operator.recurring import Recurring

_PANEL = "While it runs"


def _ask(directory: Path, command: str, **arguments: object) -> dict[str, Any]:
    from nacre.errors import JobError
    from nacre.job.layout import Layout
    from nacre.job.operator.control import ask, running

    layout = Layout(directory)
    layout.require()
    if not running(layout.socket):
        from nacre.job.offline import is_finished
        from nacre.job.operator.recurring import recurring

        again = recurring(layout)
        if again is not None and again.waits:
            raise JobError(
                f"{directory} waits for its next pass ({again.rhythm}), so that nothing runs now; "
                f"`nacre stop {directory}` ends that"
            )
        next_ = (
            f"it is finished, and `nacre recrawl {directory}` visits it again"
            if is_finished(layout)
            else f"start it, or go on with it, by `nacre run {directory}`"
        )
        raise JobError(f"{directory} is not running; {next_}")
    return ask(layout.socket, command, **arguments)


def _print(answer: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        output.say_json(answer)
    else:
        output.say(text)


def _ending(what: str, busy: int) -> str:
    if not busy:
        return what
    return f"{what}; {output.count(busy, 'fetch is', 'fetches are')} finished first"


def pause(directory: JobDir, as_json: AsJson = False) -> None:
    """Hand out nothing until `resume`; what is in process is finished."""
    answer = _ask(directory, "pause")
    _print(answer, _ending("pausing", answer["busy"]), as_json=as_json)


def resume(directory: JobDir, as_json: AsJson = False) -> None:
    """Go on after a pause."""
    answer = _ask(directory, "resume")
    held = answer["held"]
    text = f"still paused, for: {', '.join(held)}" if held else "goes on"
    _print(answer, text, as_json=as_json)


def stop(directory: JobDir, as_json: AsJson = False) -> None:
    """End it cleanly, also between the passes of a crawl that never ends; it can go on later."""
    from nacre.job.layout import Layout
    from nacre.job.operator.control import running
    from nacre.job.operator.recurring import recurring

    layout = Layout(directory)
    layout.require()
    again = recurring(layout)
    if again is not None and again.waits and not running(layout.socket):
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


def _stop_between(layout: "Layout", again: "Recurring", *, as_json: bool) -> None:
    import time
    from itertools import count

    from nacre.job.operator.recurring import end_passes

    moments = count(1)

    def patience() -> bool:
        time.sleep(_MOMENT)
        return next(moments) < _PATIENCE

    ended = end_passes(layout, patience)
    text = (
        f"stopped: no further pass begins; `nacre recrawl {layout.root} {again.rhythm}` goes on"
        if ended
        else f"process {again.pid} was told to end; it did not yet"
    )
    _print({"ok": True, "busy": 0, "ended": ended}, output.to_copy(text), as_json=as_json)


def checkpoint(
    directory: JobDir,
    name: Annotated[
        str | None,
        typer.Option(
            "--name", metavar="NAME", help="Its name; else cpNUMBER-TIME.", show_default=False
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Make none; list those there are, the oldest first.")
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
    from nacre.job.companions.checkpointing import list_checkpoints
    from nacre.job.layout import Layout

    layout = Layout(directory)
    layout.require()
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


def _facts(checkpoint: "Listed") -> dict[str, str | int | None]:
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
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="Fetches at the same time.")],
    as_json: AsJson = False,
) -> None:
    """Change the number of parallel fetches, until the job ends."""
    answer = _ask(directory, "parallel", number=number)
    _print(answer, f"{answer['before']} -> {answer['parallel']} fetches", as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (pause, resume, stop, checkpoint, parallel):
        app.command(rich_help_panel=_PANEL)(command)
