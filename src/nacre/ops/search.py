"""Search the words of a crawl, in the index that `nacre index` makes of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from nacre.errors import ConfigError, JobError
from nacre.messages import message

if TYPE_CHECKING:
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


def _quoted(word: str) -> str:
    """Return a word with the quotes of a phrase that the shell took away."""
    if " " not in word or '"' in word:
        return word
    return f'-"{word[1:]}"' if word.startswith("-") else f'"{word}"'
