"""Runs rounds from the command line: the new directory, signals, the display, the exit code."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from nacre.cli.crawl import print_made
from nacre.cli.cycle.display import StepDisplay, display_of
from nacre.cli.cycle.step_commands import signals_to
from nacre.cli.cycle.steps import dedup_text, links_text, sitemaps_text, tell_unread
from nacre.cli.cycle.texts import (
    fetch_numbers,
    fetch_progress_text,
    fetch_text,
    generate_text,
    inject_text,
    result_numbers,
    rounds_numbers,
    rounds_text,
    so_far_text,
    tell_malformed,
    update_numbers,
    update_text,
)
from nacre.cli.operations import context_of, request_of
from nacre.cli.output import program, say, say_json, tell, typed
from nacre.cli.search import index_text
from nacre.core.message_data import to_plain
from nacre.core.states import ExitCode
from nacre.errors import JobError
from nacre.job.diagnosis_text import progress_text
from nacre.machine.layout import Layout
from nacre.ops.job_options import JobOptions
from nacre.ops.new_job import make_job
from nacre.ops.round_requests import LocalRoundsOptions, RoundsRequest
from nacre.ops.rounds import require_no_stop, run_rounds
from nacre.rounds.journal import DEDUP, FETCH, GENERATE, INDEX, LINKS, SITEMAPS, UPDATE, StopSignal
from nacre.rounds.rounds_mark import StepProgress
from nacre.rounds.runner import ABORTED, INJECT, RoundsResult
from nacre.rounds.steps.generate import GenerateResult
from nacre.rounds.steps.index import IndexResult


def run_cycle(
    directory: Path, request: RoundsRequest, local: LocalRoundsOptions, new: Mapping[str, Any], *,
    quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Run rounds, show them, and print what to do next.

    Args:
        directory: The directory.
        request: The options.
        local: The options of the user of this machine.
        new: Options of `nacre new`, by parameter.
        quiet: Print only the result and errors.
        as_json: Print the result as JSON.

    Returns:
        The exit code.
    """
    layout = Layout(directory)
    is_new = not layout.config.exists()
    if is_new:
        _make(directory, request, local, new)
    elif ignored := _options_without_effect(new):
        tell(
            f"nacre: {directory} is there already, so these options change nothing: "
            f"{', '.join(ignored)}. Edit its crawl.yaml, or say --set path=value"
        )
    stop = StopSignal(layout)
    try:
        require_no_stop(stop, layout)
    except JobError as error:
        tell(f"nacre: {error}")
        return ExitCode.STOPPED
    screen = RoundsScreen(display_of(quiet=quiet, as_json=as_json))
    with signals_to(stop):
        seeds = None if not local.seeds else () if is_new else local.seeds
        result = run_rounds(context_of(directory), request, local, screen, stop, seeds=seeds)
    if result.why == ABORTED:
        fetch = result.interrupted
        so_far = f" {so_far_text(fetch)};" if fetch is not None else ""
        screen.note(f"ended at once;{so_far} the same command resumes the step")
        return ExitCode.INTERRUPTED
    if as_json:
        say_json(rounds_numbers(result))
    else:
        _print_end(directory, result, request.rounds, dry=local.dry_run)
    return exit_code_of(result)


_CODES: Final = {
    "done": ExitCode.FINISHED,
    "dry run": ExitCode.FINISHED,
    "nothing due": ExitCode.NOTHING_DUE,
    "interrupted": ExitCode.INTERRUPTED,
    "stopped": ExitCode.STOPPED,
}


def exit_code_of(result: RoundsResult) -> ExitCode:
    """Return the exit code of rounds."""
    code = _CODES[result.why]
    if result.why == "nothing due" and result.rounds:
        code = ExitCode.FINISHED
    return ExitCode.FAULTS if result.faults and code is ExitCode.FINISHED else code


def _options_without_effect(new: Mapping[str, Any]) -> list[str]:
    """Return the options of a new directory that have a value, as they are typed."""
    names = [name for name in new if new[name] not in (None, [], ())]
    return [f"--{name.replace('_', '-')}" for name in names]


def _make(
    directory: Path, request: RoundsRequest, local: LocalRoundsOptions, new: Mapping[str, Any]
) -> None:
    """Make the directory, as `nacre new` does.

    Raises:
        ConfigError: Settings or seeds are wrong.
        JobError: There are no seeds to begin with.
    """
    if local.dry_run:
        raise JobError(
            f"{directory} is not a job, and --dry-run makes none: leave --dry-run out"
        )  # fmt: skip
    if not local.seeds:
        raise JobError(
            f"{directory} is not a job: `nacre cycle {directory} -s URL` makes it and begins with "
            "URL"
        )
    shared = {"assignments": request.set, "parallel": request.parallel or None}
    options = request_of(JobOptions, {**new, **shared, "urls": local.seeds})
    print_made(make_job(options, directory))


def _indexes_text(results: list[IndexResult]) -> str:
    return "; ".join(index_text(result, named=len(results) > 1) for result in results)


def _indexes_numbers(results: list[IndexResult]) -> dict[str, Any]:
    return {"writers": list(map(result_numbers, results))}


_TEXTS: Final[Mapping[str, Callable[[Any], str]]] = {
    INJECT: inject_text,
    SITEMAPS: sitemaps_text,
    GENERATE: generate_text,
    FETCH: fetch_text,
    UPDATE: update_text,
    LINKS: links_text,
    DEDUP: dedup_text,
    INDEX: _indexes_text,
}
"""The functions that return the text of the result of each step."""
_NUMBERS: Final[Mapping[str, Callable[[Any], dict[str, Any]]]] = {
    FETCH: fetch_numbers, UPDATE: update_numbers, INDEX: _indexes_numbers,
}  # fmt: skip
"""The functions that return the numbers of a result; of others it is `result_numbers`."""
_REFUSED: Final[Mapping[str, Callable[[Any], None]]] = {
    INJECT: tell_malformed, SITEMAPS: tell_unread,
}  # fmt: skip
"""The functions that print the lines that a step could not use."""


class RoundsScreen:
    """Shows rounds; see `RoundsListener`.

    Args:
        display: Shows their steps.
    """

    def __init__(self, display: StepDisplay) -> None:
        self._display = display

    def begin(self, place: str, step: str) -> None:
        """See `RoundsListener`."""
        self._display.step(place, step)

    def progress(self, progress: StepProgress, numbers: Mapping[str, Any]) -> None:
        """See `RoundsListener`."""
        if progress.unit == "urls":
            text = fetch_progress_text(numbers)
        else:
            text = progress_text(to_plain(progress))
        self._display.progress(numbers, text)

    def waits(self, result: GenerateResult) -> None:
        """See `RoundsListener`."""
        self._display.progress(result_numbers(result), generate_text(result))

    def finish(self, step: str, result: Any) -> None:  # noqa: ANN401 - as the protocol
        """See `RoundsListener`."""
        if step in _REFUSED:
            _REFUSED[step](result)
        numbers_of = _NUMBERS.get(step, result_numbers)
        self._display.finish(numbers_of(result), _TEXTS[step](result))

    def note(self, text: str) -> None:
        """See `RoundsListener`."""
        self._display.note(text)


def _print_end(directory: Path, result: RoundsResult, rounds: int, *, dry: bool) -> None:
    """Print the result, and the commands that may follow."""
    command, place = program(), typed(directory)
    if dry:
        say("nothing was changed")
        return
    say(rounds_text(result))
    if result.resumed and result.why == "done" and result.generated is None:
        say("This was the rest of a round that was interrupted; no other round was begun.")
    if result.why in ("interrupted", "stopped"):
        say(f"Go on: {command} cycle {place} --rounds {rounds}")
        return
    say(f"Look:   {command} cycle {place} readdb --stats")
    say(f"Why:    {command} cycle {place} explain URL")
    search = f"{command} search {place} WORDS"
    is_made = Layout(directory).search.is_dir()
    say(f"Search: {search}" if is_made else f"Search: {command} cycle {place} index && {search}")
    say(f"Go on:  {command} cycle {place} --rounds 1")
