"""Search the words of a crawl, in the index that `nacre index` makes of it."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nacre.errors import ConfigError, JobError
from nacre.messages import message

if TYPE_CHECKING:
    from pathlib import Path

    from nacre.machine.layout import Layout
    from nacre.search.local_index import SearchAnswer, SearchOptions

FACETS: Final = ("site", "type", "lang", "segment")


def search_words(
    layout: "Layout", words: Sequence[str], options: "SearchOptions"
) -> "SearchAnswer":
    """Search the index of words of a crawl.

    Args:
        layout: Directories of the crawl.
        words: Words, as `nacre search` takes them; one with a space is a phrase.
        options: What is shown of the pages.

    Raises:
        ConfigError: The query or an option cannot be used.
        JobError: The crawl has no index of words.
    """
    from nacre.search.local_index import LocalSearch
    from nacre.search.query import parse_query

    # A shell takes the quotes of a phrase away.
    query = parse_query(" ".join(map(_quoted, words)))
    for name in options.facets:
        if name not in FACETS:
            raise ConfigError(
                message(
                    "ops.no-facet",
                    "--facet {name}: no such facet; one of: {names}",
                    name=name,
                    names=", ".join(FACETS),
                )
            )
    if not layout.search.is_dir():
        command = f"cycle {layout.root} index" if layout.in_rounds else f"index {layout.root}"
        raise JobError(
            message(
                "ops.no-search-index",
                "{root} has no index of words; make it by `nacre {command}`",
                root=layout.root,
                command=command,
            )
        )
    if options.newest and options.explain:
        raise ConfigError(
            message(
                "ops.explain-with-newest",
                "--explain: with --newest pages have no score; give one of them",
            )
        )
    return LocalSearch(layout.search).search(query, options)


def search_target(target: "Path", words: Sequence[str], options: "SearchOptions") -> "SearchAnswer":
    """Search the words of a crawl, or of all jobs of a collection.

    Args:
        target: Directory of the crawl, or name of the collection.
        words: See `search_words`.
        options: See `search_words`.

    Raises:
        ConfigError: The query or an option cannot be used.
        JobError: There is nothing of that name, or no job of it has an index of words.
    """
    from nacre.catalogue.holdings import COLLECTION, open_holding
    from nacre.machine.layout import Layout

    if target.is_dir():
        return search_words(Layout(target), words, options)
    holding = open_holding([str(target)])
    layouts = [Layout(member.root) for member in holding.members if not member.is_missing]
    indexed = [layout for layout in layouts if layout.search.is_dir()]
    if holding.kind != COLLECTION or not indexed:
        jobs = " ".join(str(layout.root) for layout in layouts) or "JOB"
        raise JobError(
            message(
                "ops.no-search-index-of-collection",
                "{name} has no index of words; make one of each job by `nacre index`: {jobs}",
                name=holding.name,
                jobs=jobs,
            )
        )
    whole = options._replace(limit=options.offset + options.limit, offset=0)
    return merge_answers([search_words(layout, words, whole) for layout in indexed], options)


def merge_answers(answers: "Sequence[SearchAnswer]", options: "SearchOptions") -> "SearchAnswer":
    """Return the answers of several indexes as one, the best pages first (pure).

    Args:
        answers: Answers with at least the pages that are skipped and shown.
        options: What is shown of the pages.
    """
    hits = sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: -hit.score)
    counts: dict[str, Counter[str]] = {name: Counter() for name in options.facets}
    for answer in answers:
        for name, values in answer.facets.items():
            counts[name].update(dict(values))
    return answers[0]._replace(
        total=sum(answer.total for answer in answers),
        hits=tuple(hits[options.offset : options.offset + options.limit]),
        facets={name: tuple(counter.most_common()) for name, counter in counts.items()},
    )


def _quoted(word: str) -> str:
    """Return a word with the quotes of a phrase that the shell took away."""
    if " " not in word or '"' in word:
        return word
    return f'-"{word[1:]}"' if word.startswith("-") else f'"{word}"'
