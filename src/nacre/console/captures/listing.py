"""The list of captures of a job: a search, its facets, and its results as a file."""

import asyncio
import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response, StreamingResponse

from nacre.catalogue.build import read_state
from nacre.catalogue.filters import CatalogueQuery
from nacre.catalogue.holdings import Holding, catalogue_folder, open_holding
from nacre.catalogue.query import count_facets
from nacre.catalogue.rows import FAMILIES
from nacre.catalogue.words import has_word_index
from nacre.console.call import ActionCall, Call, PageAnswer
from nacre.console.captures.links import replay_link
from nacre.console.forms import offered_runs
from nacre.console.links import job_path
from nacre.console.parts import EXPORTS
from nacre.console.task_answers import read
from nacre.core.clock import iso
from nacre.core.states import ExitCode
from nacre.errors import ConfigError, JobError, StorageError
from nacre.fleet.job_files import run_names
from nacre.fleet.refusals import SOON, RefusedRequestError
from nacre.inspect.analysis.wording import FOUND_WORDS
from nacre.machine.layout import Layout
from nacre.messages import message
from nacre.ops.captures import (
    FILTERS,
    BuildProgress,
    CapturesQuery,
    ListedCapture,
    find_captures,
    listed_capture,
    originals_of,
    read_query,
    refresh_catalogues,
)
from nacre.ops.operation import option_words
from nacre.web.workers.background import HeldTask
from nacre.web.workers.task import reader_task

ExportFormat = Literal["csv", "json", "cdxj"]
_MEDIA: Final[Mapping[str, str]] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "cdxj": "text/x-cdxj; charset=utf-8",
}


class CaptureItem(ListedCapture, frozen=True, kw_only=True):
    """A capture of a list.

    Attributes:
        original: Of a revisit, the id of the capture of the same URL with its content; "" if it is
            no revisit, or if the content is of another URL.
    """

    original: str = ""


class CaptureList(msgspec.Struct, frozen=True):
    """A page of captures.

    Attributes:
        items: The captures.
        next: The `after` of the next page; null for none.
        as_of: Time of the catalogue, RFC 3339; "" if there is none yet.
        complete: The catalogue had all captures at this time; else it is being built.
        done: Bytes of the indexes that are in the catalogue.
        total: Bytes of all indexes.
        searched: Rows of the catalogue that were read.
        reached: The time (14 digits) or the URL up to which was searched, if the search stopped
            before the page was full; "" if it did not.
        words: The job has an index of words.
        warnings: Why captures may be missing: WARCs without an index, damaged or absent files.
    """

    items: tuple[CaptureItem, ...]
    next: str | None
    as_of: str
    complete: bool
    done: int
    total: int
    searched: int
    reached: str
    words: bool
    warnings: tuple[str, ...]


class FacetItem(msgspec.Struct, frozen=True):
    """A value of a facet, as the query takes it, and its number of captures."""

    value: str
    number: int


class CaptureFacets(msgspec.Struct, frozen=True):
    """The numbers of captures of a query.

    Attributes:
        facets: By facet (`host`, `family`, `mime`, `status`, `verdict`, `run`, `day`) its values.
        total: Number of captures.
        exact: These are all captures of the query; else there are more.
    """

    facets: dict[str, tuple[FacetItem, ...]]
    total: int
    exact: bool


@reader_task("captures")
def list_captures(layout: Layout, query: CapturesQuery) -> CaptureList:
    """Read a page of the captures of a job."""
    holding = open_holding([layout.root])
    progress = _refresh(holding)
    page = find_captures(holding, read_query(query))
    originals = originals_of(holding, page.items)
    items = tuple(
        CaptureItem(
            *msgspec.structs.astuple(listed_capture(item, holding)),
            original=originals.get(item.capture.id, ""),
        )
        for item in page.items
    )
    as_of = iso(page.as_of) if page.as_of else ""
    return CaptureList(
        items, page.next or None, as_of, progress.is_complete and page.is_complete, progress.done,
        progress.total, page.looked, page.reached, has_word_index(holding),
        tuple(holding.warnings),
    )  # fmt: skip


def _refresh(holding: Holding) -> BuildProgress:
    """Bring the catalogues up to date; if the disk is full, use them as they are.

    Raises:
        StorageError: There is no catalogue, and it cannot be made.
    """
    try:
        return refresh_catalogues(holding)
    except StorageError:
        states = [read_state(catalogue_folder(member)) for member in holding.members]
        if not all(state.as_of for state in states):
            raise
        return BuildProgress(is_complete=False, done=0, total=0)


@reader_task("capture-facets")
def count_captures(layout: Layout, query: CapturesQuery) -> CaptureFacets:
    """Count the captures of a query by the values of each facet; words are not counted."""
    chosen = read_query(query)
    if chosen.words:
        return CaptureFacets({}, 0, exact=False)
    plain = msgspec.structs.replace(chosen, cursor="", order="")
    counts = count_facets(open_holding([layout.root]), plain)
    facets = {
        name: tuple(FacetItem(*value) for value in values) for name, values in counts.facets.items()
    }
    return CaptureFacets(facets, counts.total, exact=counts.is_exact)


# ---- the page


class FacetLink(NamedTuple):
    """A value of a facet on the page.

    Attributes:
        value: The value.
        number: Its number of captures.
        link: The same search with this value.
    """

    value: str
    number: int
    link: str


_FACET_FIELDS: Final = {
    "host": "host", "family": "mime", "status": "status", "verdict": "verdict", "run": "run",
    "mime": "mime",
}  # fmt: skip
"""Facets of the page, each with the field of the query that it sets."""
_BLANK: Final = {"verdict": "unknown", "mime": "none"}
"""Values of a query that mean an empty value."""
_RUNS_LEAST: Final = 2


async def captures_page(call: ActionCall) -> CaptureList | HeldTask | PageAnswer:
    """The page of captures; a search that means nothing is explained beside the form."""
    query: CapturesQuery = call.query
    try:
        return await read(call, list_captures, query)
    except (ConfigError, JobError) as error:
        facts = await _form_facts(call)
        return PageAnswer(
            "captures.html",
            {**facts, "query": query, "job": call.job().id, "found": None, "error": error.message},
        )


async def captures_facts(call: ActionCall, _: CaptureList) -> Mapping[str, Any] | HeldTask:
    """The facts of the page of captures."""
    query: CapturesQuery = call.query
    counts = await read(call, count_captures, msgspec.structs.replace(query, after=""))
    if isinstance(counts, HeldTask):
        return counts
    job = call.job()
    filters = filters_of_search(query)
    return {
        **await _form_facts(call),
        "error": "",
        "hidden_filters": filters,
        "counts": counts,
        "facets": facet_links(counts, filters),
        "exports": [(form, export_link(job.id, form, filters)) for form in _MEDIA],
        "replay_of": lambda item: replay_link(call, job, item.time, item.url),
    }


async def _form_facts(call: ActionCall) -> Mapping[str, Any]:
    """The facts of the form of a search."""
    query: CapturesQuery = call.query
    translate = call.language.texts.gettext
    runs = await asyncio.to_thread(run_names, call.job().layout.root)
    filters = filters_of_search(query)
    return {
        "base": job_path(call.job().id),
        "families": FAMILIES,
        "runs": offered_runs(runs, query.run) if len(runs) >= _RUNS_LEAST or query.run else [],
        "verdict_words": {name: translate(text) for name, text in FOUND_WORDS.items()},
        "is_filtered": bool(filters),
        "words": shlex.join(command_words(query)),
    }


def filters_of_search(query: CapturesQuery) -> dict[str, str]:
    """Return the fields of a search that are set, but for its place (pure)."""
    fields = {name: getattr(query, name) for name in FILTERS if name != "id"}
    return {name: str(value) for name, value in fields.items() if value}


def facet_links(counts: CaptureFacets, filters: Mapping[str, str]) -> dict[str, list[FacetLink]]:
    """Return the values of facets with their links (pure).

    Args:
        counts: The counts.
        filters: The filters of the search.
    """
    facets: dict[str, list[FacetLink]] = {}
    for name, field in _FACET_FIELDS.items():
        links = []
        for item in counts.facets.get(name, ()):
            value = item.value or _BLANK.get(name, "")
            link = "?" + urlencode({**filters, field: value}) if value else ""
            links.append(FacetLink(item.value, item.number, link))
        facets[name] = links
    facets["day"] = [
        FacetLink(
            item.value, item.number,
            "?" + urlencode({**filters, "start": item.value, "end": item.value}),
        )
        for item in counts.facets.get("day", ())
    ]  # fmt: skip
    return facets


# ---- the results as a file


class CaptureExport(CapturesQuery, frozen=True, kw_only=True):
    """The captures of a file.

    Attributes:
        form: Format of the file.
    """

    form: ExportFormat = "csv"


def export_link(job: str, form: str, filters: Mapping[str, str]) -> str:
    """Return the link that downloads the results of a search (pure).

    Args:
        job: Id of the job.
        form: `csv`, `json` or `cdxj`.
        filters: The filters of the search.
    """
    return f"/api/v1/jobs{job_path(job)[2:]}/captures/export?{urlencode({**filters, 'form': form})}"


def command_words(query: CapturesQuery, form: str = "") -> list[str]:
    """Return the words of the command of a search, behind the job (pure).

    Args:
        query: The search.
        form: Format of an export; "" for a list.
    """
    words = option_words(query, without=("q", "after", "limit", "form"))
    words += [f"--format={form}"] if form else []
    return [*words, *(["--", query.q] if query.q.strip() else [])]


async def export_captures(call: Call) -> Response:
    """All captures of a query as a file, written by a separate process as it is read.

    Raises:
        RefusedRequestError: As many such processes run as may run at a time (429).
    """
    turns = call.common.exports
    _require_turn(turns)
    query: CaptureExport = call.query
    checked: CatalogueQuery = read_query(query)
    job = call.job()
    await asyncio.to_thread(_check, job.layout, checked)
    words = command_words(query, query.form)
    fields = {"content-disposition": f'attachment; filename="captures.{query.form}"'}
    _require_turn(turns)
    output = _in_turn(turns, command_output("captures", str(job.layout.root), *words))
    return StreamingResponse(output, 200, fields, media_type=_MEDIA[query.form])


def _require_turn(turns: asyncio.Semaphore) -> None:
    if turns.locked():
        raise RefusedRequestError(
            429,
            "too-many-exports",
            message(
                "console.too-many-exports",
                "{number} lists of captures are being downloaded; try again when one has ended",
                number=EXPORTS,
            ),
            SOON,
        )


async def _in_turn(
    turns: asyncio.Semaphore, output: AsyncGenerator[bytes, None]
) -> AsyncIterator[bytes]:
    """Yield the output of a process that begins when it is its turn."""
    async with turns, aclosing(output):
        async for data in output:
            yield data


def _check(layout: Layout, query: CatalogueQuery) -> None:
    """Refuse a query that has no meaning before the file begins."""
    first = msgspec.structs.replace(query, limit=1)
    find_captures(open_holding([layout.root]), first)


_PIECE: Final = 64 << 10


async def command_output(*words: str) -> AsyncGenerator[bytes, None]:
    """Yield the output of a command of Nacre, which is killed if the client leaves.

    Raises:
        StorageError: The command failed, so that the output is not whole.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nacre", *words,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        while process.stdout is not None and (data := await process.stdout.read(_PIECE)):
            yield data
        if await process.wait() not in {ExitCode.FINISHED, ExitCode.NOTHING_DUE}:
            raise StorageError(f"`nacre {shlex.join(words)}` failed; run it to see the reason")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
