"""URLs as people type them, by what a job has: its seeds, and the pages that it knows."""

from collections.abc import Iterator

from nacre.engine.seeding.seedbook import seed_rows
from nacre.history.dedup import History
from nacre.recrawl.pagestore import PageStore
from nacre.store.store import Store
from nacre.uri.typed import is_whole, typed_url, without_login
from nacre.wire.urltext import possible_urls


def typed_spellings(store: Store, text: str) -> Iterator[str]:
    """The URLs that a typed text may mean, the likeliest first; see `uri.typed.typed_url`.

    Args:
        store: The store of the job.
        text: The text; a name and a password in it are left out.

    Raises:
        AmbiguousUrlError: It may be on several hosts.
        URIError: It has no scheme, and is no URL with one.
    """
    plain = without_login(text)
    if is_whole(plain):
        yield from possible_urls(plain)
        return
    yield from possible_urls(_typed_in_store(store, plain))


def typed_in_store(store: Store, text: str) -> str:
    """The URL that a typed text means; a whole URL is itself, as typed.

    Args:
        store: The store of the job.
        text: The text.

    Raises:
        AmbiguousUrlError: It may be on several hosts.
        URIError: It has no scheme, and is no URL with one.
    """
    return text if is_whole(text) else _typed_in_store(store, text)


def _typed_in_store(store: Store, text: str) -> str:
    history, pages = History(store), PageStore(store)

    def is_known(url: str) -> bool:
        return history.get(url) is not None or pages.get(url) is not None

    return typed_url(text, lambda: (row.url for row in seed_rows(store)), is_known)
