"""`nacre page`: one page as it looks now, run in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from nacre.cli import output
from nacre.cli.operations import with_options_of
from nacre.cli.options import AsJson, NewDir, Now, Quiet, clock_at
from nacre.ops.job_options import JobOptions
from nacre.ops.page import OF_PAGE

if TYPE_CHECKING:
    from nacre.ops.page import ArchivedPage

_EXAMPLES: Final = 3
"""URLs that are printed of requests that failed for the same reason."""


@with_options_of(JobOptions, names=OF_PAGE)
def page(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page.", show_default=False)],
    *,
    options: JobOptions,
    out: NewDir = None,
    now: Now = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Archive one page as it looks now, run in a browser, with pictures.

    Creates an ordinary job directory: the page with all its requests, its text, its DOM and
    pictures, in WARC files. Prints how the page ended, what failed, and the command that shows it.
    """
    from nacre.cli.crawl import print_made
    from nacre.cli.running import run_new
    from nacre.core.message_data import to_plain
    from nacre.ops.page import make_page_job, read_outcome

    clock = clock_at(now)
    layout, settings = print_made(make_page_job(options, url, out, clock))
    result = run_new(layout, settings, clock, quiet=quiet, as_json=as_json)
    outcome = read_outcome(layout, url, result.code)
    if as_json:
        output.say_json(to_plain(outcome))
    else:
        for line in outcome_lines(outcome):
            output.say(line)
    raise typer.Exit(outcome.exit_code)


def outcome_lines(outcome: "ArchivedPage") -> Iterator[str]:
    """Yield the lines about a page."""
    from nacre.cli.page_text import page_lines

    program, job = output.program(), output.typed(Path(outcome.job))
    if outcome.facts is None:
        yield f"{output.safe(outcome.url)} was not run in a browser: {outcome.reason}"
        yield f"Why:       {program} explain {job} {output.typed(outcome.url)}"
        return
    yield output.safe(outcome.url)
    yield from page_lines(outcome.facts)
    for kind, path in outcome.pictures.items():
        yield f"  {kind:<11} {output.format_path(Path(path))}"
    for number, line in enumerate(_failures(outcome.failed)):
        yield f"  {'' if number else 'failed':<11} {output.safe(line)}"
    yield ""
    yield f"Browse:    {program} replay {job}"
    yield f"Look:      {program} explain {job} {output.typed(outcome.url)}"
    yield f"Verify:    {program} archive {job} check"


def _failures(requests: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Yield failed requests by reason, the most frequent first, with their first URLs."""
    urls: dict[str, list[str]] = {}
    for url, reason in requests:
        urls.setdefault(reason, []).append(url)
    for reason, of_reason in sorted(urls.items(), key=lambda item: -len(item[1])):
        if len(of_reason) == 1:
            yield f"{reason}: {of_reason[0]}"
            continue
        such_as = ", such as" if len(of_reason) > _EXAMPLES else ""
        yield f"{reason}: {output.count(len(of_reason), 'request')}{such_as}"
        yield from (f"  {url}" for url in of_reason[:_EXAMPLES])


COMMANDS: Final = {"page": page}
"""The functions of the commands, by name."""
