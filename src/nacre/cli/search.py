"""`nacre search` and `nacre index`: words in crawled pages."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre.cli import output
from nacre.cli.installing import Yes, offering
from nacre.cli.options import AsJson, JobDir
from nacre.cli.output import count
from nacre.cli.program import Command
from nacre.core.states import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nacre.indexing.search_index import IndexedPages
    from nacre.rounds.steps.index import IndexResult
    from nacre.search.document import SearchDocument
    from nacre.search.local_index import SearchAnswer, SearchHit
    from nacre.search.writer_kinds import WriterSettings

WriterName = Annotated[
    str,
    typer.Option(
        "--writer", metavar="NAME", show_default=False,
        help="Use only this writer of cycle.index.writers; default: all writers.",
    ),
]  # fmt: skip
CheckURL = Annotated[
    str,
    typer.Option(
        "--check", metavar="URL", show_default=False,
        help="Only show the document of this page, and the writers that would receive it.",
    ),
]  # fmt: skip
Words = Annotated[
    list[str],
    typer.Argument(
        metavar="WORDS", show_default=False,
        help='Pages must contain all words; `"two words"` is a phrase, `-word` excludes '
        "a word, `a OR b` is either word, and site: type: lang: after: before: date: "
        "title: url: search a field.",
    ),
]  # fmt: skip
Limit = Annotated[
    int,
    typer.Option("--limit", "-n", metavar="N", min=0, max=10_000, help="Number of pages to show."),
]
Offset = Annotated[
    int,
    typer.Option("--offset", metavar="N", min=0, max=1_000_000, help="Number of pages to skip."),
]
Newest = Annotated[
    bool, typer.Option("--newest", help="Show the newest pages first instead of the best.")
]
Facets = Annotated[
    list[str] | None,
    typer.Option(
        "--facet", metavar="site|type|lang|segment", show_default=False,
        help="Also count the pages by this field; can be repeated.",
    ),
]  # fmt: skip
Explained = Annotated[bool, typer.Option("--explain", help="Explain the score of each page.")]


class SearchCommand(Command):
    """A command whose words may begin with `-`, as those that must not be there."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - as its base says
        """Parse `-word` as a word if it is no option."""
        options = {name for param in self.params for name in param.opts}.union(
            ctx.help_option_names
        )
        end = args.index("--") if "--" in args else len(args)
        before, behind = args[:end], args[end + 1 :]
        left_out = [word for word in before if _is_left_out(word, options)]
        words = [word for word in before if word not in left_out]
        return list(super().parse_args(ctx, [*words, "--", *behind, *left_out]))


def _is_left_out(arg: str, options: AbstractSet[str]) -> bool:
    """Whether an argument is a word that must not be there: no option, nor one with its number."""
    if not arg.startswith("-") or arg.startswith("--") or len(arg) == 1:
        return False
    return arg not in options and not (arg[:2] in options and arg[2:].isdigit())


def search(
    ctx: typer.Context,
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="JOB|COLLECTION",
            show_default=False,
            help="Directory of the job, or name of a collection.",
        ),
    ],
    words: Words,
    *,
    limit: Limit = 10,
    offset: Offset = 0,
    newest: Newest = False,
    facets: Facets = None,
    explain: Explained = False,
    as_json: AsJson = False,
    _yes: Yes = False,
) -> None:
    """Search the text of a crawl, in the index that `nacre index` makes.

    Ends with code 10 if nothing is found.
    """
    from nacre.cli.options import holding_of
    from nacre.ops.search import search_target
    from nacre.ops.search_advice import skipped_members

    def answer_of() -> "SearchAnswer":
        from nacre.search.local_index import SearchOptions

        options = SearchOptions(
            limit=limit, offset=offset, newest=newest, facets=tuple(facets or ()), explain=explain
        )
        return search_target(directory, words, options)

    answer = offering(ctx, answer_of, ("the search needs", "search"))
    tell_rebuild(directory)
    if not directory.is_dir() and (skipped := skipped_members(holding_of([directory]))):
        output.tell(f"nacre: warning: {skipped}")
    if as_json:
        output.say_json(answer_numbers(answer))
    else:
        for line in answer_lines(answer, offset):
            output.say(line)
    if not answer.total:
        if any(" " in word and '"' not in word for word in words):
            output.tell(
                "words in quotes are a phrase: without the quotes they need not be adjacent"
            )
        raise typer.Exit(ExitCode.NOTHING_DUE)


def index(
    ctx: typer.Context,
    directory: JobDir,
    *,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Make the index again from the archive."),
    ] = False,
    writer: WriterName = "",
    check: CheckURL = "",
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")
    ] = False,
    as_json: AsJson = False,
    _yes: Yes = False,
) -> None:
    """Update the index of words with the changed pages of a crawl.

    The crawl may be running. For a directory with batch rounds use `nacre cycle DIR index`.
    """
    needs = ("an index needs", "search")
    if check:
        offering(ctx, lambda: _show_checked(directory, writer, check, as_json=as_json), needs)
        return
    results = offering(ctx, lambda: _indexed(directory, writer, rebuild, dry), needs)
    tell_rebuild(directory)
    if as_json:
        numbers = [result._asdict() for result in results]
        output.say_json(numbers[0] if len(numbers) == 1 else numbers)
        return
    for result in results:
        output.say(index_text(result, named=len(results) > 1))


def tell_rebuild(directory: "Path") -> None:
    """Tell that the embedded index of a crawl is to be built again, if it is.

    Args:
        directory: The directory of the crawl.
    """
    from nacre.machine.layout import Layout
    from nacre.search.local_index import rebuild_reason

    if reason := rebuild_reason(Layout(directory).search):
        output.tell(reason)


def _indexed(directory: "Path", writer: str, rebuild: bool, dry: bool) -> "list[IndexedPages]":
    from nacre.cli.options import layout_and_settings
    from nacre.indexing.search_index import index_job
    from nacre.search.writer_kinds import chosen_writers

    layout, settings = layout_and_settings(directory)
    layout.require_runs("index")
    chosen = chosen_writers(settings.cycle.index.writers, writer)
    return [
        index_job(
            layout, settings, item.make(layout.index), when=item.when, rebuild=rebuild, dry=dry
        )
        for item in chosen
    ]


def _show_checked(directory: "Path", writer: str, url: str, *, as_json: bool) -> None:
    from nacre.cli.options import layout_and_settings
    from nacre.indexing.search_index import check_page
    from nacre.search.writer_kinds import chosen_writers

    layout, settings = layout_and_settings(directory)
    layout.require_runs("index")
    chosen = chosen_writers(settings.cycle.index.writers, writer)
    plain, document = check_page(layout, settings, url)
    numbers = document_numbers(plain, document, chosen)
    if as_json:
        output.say_json(numbers)
    else:
        output.say(document_text(numbers))


def document_numbers(
    url: str, document: "SearchDocument | str", writers: "Sequence[WriterSettings]"
) -> dict[str, Any]:
    """Return the document of a page, and the writers that receive it; or why it has none.

    Args:
        url: The URL of the page.
        document: Its document, or the reason why it has none.
        writers: The writers that are asked.

    Raises:
        UserSqlError: The condition of a writer is wrong.
    """
    from nacre.indexing.document_choice import DocumentChoice
    from nacre.search.document import plain_document

    if isinstance(document, str):
        return {"url": url, "reason": document}
    receives = {}
    for writer in writers:
        with DocumentChoice(writer.when, writer.known_as) as choice:
            receives[writer.known_as] = bool(choice.parted([document]).chosen)
    return {"url": url, "document": plain_document(document), "writers": receives}


def document_text(numbers: Mapping[str, Any]) -> str:
    """Return the text of `document_numbers`."""
    if reason := numbers.get("reason"):
        return f"{numbers['url']} has no document: {_WHY_NONE.get(reason, reason)}"
    lines = []
    for name, value in numbers["document"].items():
        text = " | ".join(value) if isinstance(value, list) else str(value)
        short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
        lines.append(f"{name}: {short}")
    for name, receives in numbers["writers"].items():
        verb = "is given it" if receives else "is not given it (`when`)"
        lines.append(f"writer {name}: {verb}")
    return "\n".join(lines)


_SHOWN = 300
_WHY_NONE = {
    "unknown": "no reply with status 200 that has a text is known of it; `explain` says more",
    "noindex": "its directives for robots say noindex (`cycle.index.noindex`)",
    "filter": "a filter leaves it out (`cycle.index.filters`)",
    "type": "its media type has no text",
    "plumbing": "it is for programs: robots.txt, a sitemap or an address of a host",
    "part": "a page in a browser requested it, and shows its text",
    "capture": "its record in the archive cannot be read; `archive check` says more",
    "elsewhere": "no WARC file that the archive names has its capture: `merge` or `import` the "
    "crawl that has it once more, then `index --rebuild`",
    "unreadable": "its file is damaged, encrypted, or larger than its reader takes",
    "time": "its text takes more than 20 s of the processor",
    "memory": "its text takes more than 3 GB of memory",
    "crash": "the library that reads its type broke down over it",
    "when": "the condition `when` of the writer leaves it out",
}
"""Reasons why a page has no document, for people."""


def index_text(result: "IndexedPages | IndexResult", *, named: bool = False) -> str:
    """`12 pages added, 3 updated, 2 deleted (1 gone, 1 redirect); 4 skipped (4 noindex)`.

    Args:
        result: The outcome.
        named: Say which writer it was.
    """
    before = f"{result.writer}: " if named else ""
    if not (result.added or result.updated or result.deleted or result.skipped):
        return f"{before}nothing new: the index has all pages as they were fetched last"
    text = f"{before}{count(result.added, 'page')} added, {result.updated:,} updated"
    text += f", {sum(result.deleted.values()):,} deleted{_reasons(result.deleted)}"
    if result.skipped:
        text += f"; {sum(result.skipped.values()):,} skipped{_reasons(result.skipped)}"
    if result.cut:
        text += f"; the text of {result.cut:,} is cut (`cycle.index.max_content`)"
    for reason, url in sorted(result.examples.items()):
        text += f"\n  {reason}: {url}: {_WHY_NONE.get(reason, reason)}"
    return text


def _reasons(counts: Mapping[str, int]) -> str:
    text = ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))
    return f" ({text})" if text else ""


def answer_lines(answer: "SearchAnswer", offset: int) -> list[str]:
    """The answer as lines for a terminal.

    Args:
        answer: The answer.
        offset: Hits that were left out.
    """
    lines = [f"{count(answer.total, 'page')} found"]
    for number, hit in enumerate(answer.hits, offset + 1):
        lines += ["", *_hit_lines(number, hit, scored=not answer.by_time)]
    behind = answer.total - offset - len(answer.hits)
    if answer.hits and behind > 0:
        lines += ["", f"{behind:,} more: --offset {offset + len(answer.hits)}"]
    for name, values in answer.facets.items():
        lines += ["", f"by {name}: " + ", ".join(f"{value} {size:,}" for value, size in values)]
    return lines


def _hit_lines(number: int, hit: "SearchHit", *, scored: bool) -> list[str]:
    from nacre.search.document import kind_of

    document = hit.document
    facts = [_day(document.tstamp), kind_of(document.type), document.lang]
    if scored:
        facts.append(f"score {hit.score:.2f}")
    lines = [f"{number}. {document.title or '(no title)'}", f"   {document.url or document.id}"]
    lines.append(f"   {', '.join(filter(None, facts))}")
    if hit.snippet.text:
        lines.append(f"   {hit.snippet.marked('**', '**')}")
    if hit.parts:
        lines.append(f"   score: {score_text(hit)}")
    return lines


def score_text(hit: "SearchHit") -> str:
    """`国家图书馆: title 9.12, content 4.20; times 1.58 for its importance`.

    Args:
        hit: A page that was found, with the parts of its score.
    """
    by_words: dict[str, list[str]] = {}
    for part in hit.parts:
        by_words.setdefault(part.words, []).append(f"{part.field} {part.value:.2f}")
    scores = "; ".join(f"{words}: {', '.join(values)}" for words, values in by_words.items())
    return f"{scores}; times {hit.factor:.2f} for its importance"


def _day(time: int) -> str:
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d") if time else ""


def answer_numbers(answer: "SearchAnswer") -> dict[str, Any]:
    """The same as plain data; the snippet has its marks as places in it."""
    from nacre.search.document import plain_document

    hits = []
    for hit in answer.hits:
        fields = plain_document(hit.document)
        fields.pop("content", None)
        marks = [list(mark) for mark in hit.snippet.marks]
        row = {"score": hit.score, **fields, "snippet": hit.snippet.text, "marks": marks}
        if hit.parts:
            row["parts"] = [part._asdict() for part in hit.parts]
            row["factor"] = hit.factor
        hits.append(row)
    facets = {name: dict(values) for name, values in answer.facets.items()}
    return {"total": answer.total, "hits": hits, "facets": facets}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel="Look", cls=SearchCommand)(search)
    app.command(rich_help_panel="Look")(index)
