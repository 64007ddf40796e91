"""The levers of a sentence as links to the pages where they are pulled (pure)."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote, urlencode

from nacre.console.links import exact, exclude_link
from nacre.job.overview import SlowQueue
from nacre.job.sentence import Sentence
from nacre.job.sentence_words import LEVERS
from nacre.uri.surt import queue_root

_ACTIONS: Final = frozenset(("start", "resume", "go-on", "stop", "recrawl"))
"""Levers that are buttons of Overview."""
_PAGES: Final = {
    "fix": "/settings",
    "free-space": "/files",
    "disk.reserve": "/settings/form?q=disk.reserve",
    "limits": "/settings/form?section=limits",
    "unretire": "/frontier?state=retired",
    "log": "/log?name=job",
    "parallel": "/watch",
    "contact": "/settings/form?q=fetch.contact",
    "watch": "/watch",
    "seeds": "/seeds",
    "traps": "/reports/traps",
    "deeper": "/settings/form?q=max_hops",
    "trap-share": "/settings/form?q=recrawl.trap_share",
}
"""The pages of levers that need to know nothing more, below that of the job."""
_WAITING: Final = frozenset(("look-waiting", "exclude-part"))
"""Levers whose page is that of what waits, where each part can be excluded."""
_LOOKS: Final = frozenset(("log", "watch", "seeds", "traps", "look-waiting"))
"""Levers that only look at something: whoever sees the job can do that."""
_FOR_HOST: Final = {"delay": "politeness.delay", "in_flight": "politeness.in_flight"}
"""Levers that are a setting for one host, and the setting."""


class LeverLink(NamedTuple):
    """A lever as a link.

    Attributes:
        name: The lever.
        label: Its text.
        url: The page, or the part of the page, where it is pulled; "" for who may not.
    """

    name: str
    label: str
    url: str


def lever_links(
    job: str, sentence: Sentence, slowest: Sequence[SlowQueue], translate: Callable[[str], str]
) -> tuple[LeverLink, ...]:
    """The levers of a sentence, the best first.

    Args:
        job: Id of the job.
        sentence: It.
        slowest: The queues that take longest; one of them is the queue of the sentence's host.
        translate: Gives the text of another language.
    """
    host, queue = sentence.params.get("host", ""), str(sentence.params.get("queue", ""))
    queue = queue or next((one.name for one in slowest if host and one.host == host), "")
    return tuple(
        LeverLink(name, translate(LEVERS[name]), _url(job, name, sentence, queue))
        for name in sentence.lever
    )


def only_looks(links: Sequence[LeverLink]) -> tuple[LeverLink, ...]:
    """The levers for somebody who may only look: the others have no link.

    Args:
        links: All.
    """
    return tuple(link if link.name in _LOOKS else link._replace(url="") for link in links)


def _base(job: str) -> str:
    return f"/j/{quote(job, safe='')}"


def _url(job: str, name: str, sentence: Sentence, queue: str) -> str:
    base = _base(job)
    if name in _ACTIONS:
        return f"{base}#actions"
    if name in _PAGES:
        return base + _PAGES[name]
    host, prefix = (str(sentence.params.get(key, "")) for key in ("host", "prefix"))
    if name in _FOR_HOST:
        place = {"u": queue_root(queue) if queue else f"http://{host}/"} if host else {}
        return f"{base}/settings/sheets?{urlencode({**place, 'key': _FOR_HOST[name]})}"
    if name in _WAITING:
        return f"{base}/uris" + (f"?{urlencode({'queue': queue})}" if queue else "")
    if name == "exclude":
        return exclude_link(job, prefix)
    # What is left is done to queues: retire, wake.
    return f"{base}/frontier" + (f"?{urlencode({'re': exact(queue)})}" if queue else "")
