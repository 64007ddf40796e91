"""How often the pages of a history change, and by what: the rates of the simulated worlds.

`python -m bench.histories rates WORLD` needs repositories only, and no crawler.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple
from urllib.parse import quote

from bench.histories.figures import Share, wilson
from bench.histories.pages import HistorySite
from bench.histories.site import site_truth
from bench.histories.timeline import has_real_change
from bench.histories.truth import Truth, mark, shown, sight_of
from bench.histories.worlds import RunPlan

Cause = Literal["same", "real", "markup", "numbers", "returning", "shared", "own"]
"""Why the bytes of a page differ from the step before: not at all; a recorded change; nothing that
a reader sees; digits; a text that the page had before; words that appear on several pages of the
site in the same step; anything else."""
_REMEMBERED = 10
_SHARED = 2
_EVENT = 0.2


class PageText(NamedTuple):
    """What is compared of a page.

    Attributes:
        digest: Of its bytes.
        text: Mark of what a reader sees.
        less_numbers: Mark of the same without numbers.
        words: Marks of its sentences.
    """

    digest: bytes
    text: bytes
    less_numbers: bytes
    words: frozenset[str]


def page_text(body: bytes) -> PageText:
    """See `PageText`; sentences are what points and line breaks part."""
    sight, (text, _) = sight_of(body), shown(body)
    return PageText(mark(body), sight.text, sight.less_numbers, frozenset(text.split(". ")))


class Step(NamedTuple):
    """Two states of a page, one step apart."""

    document: str
    site: str
    old: PageText
    new: PageText
    is_real: bool


def shared_words(steps: Iterable[Step]) -> set[tuple[str, str]]:
    """Site and sentence of what appears on several pages of a site in one step."""
    counts: Counter[tuple[str, str]] = Counter()
    for step in steps:
        counts.update((step.site, words) for words in step.new.words - step.old.words)
    return {key for key, number in counts.items() if number >= _SHARED}


def cause_of(step: Step, before: Iterable[bytes], shared: set[tuple[str, str]]) -> Cause:
    """Return the cause of a difference.

    Args:
        step: The states.
        before: Marks of the texts that the page had lately.
        shared: See `shared_words`.
    """
    old, new = step.old, step.new
    if old.digest == new.digest:
        return "same"
    if step.is_real:
        return "real"
    if old.text == new.text:
        return "markup"
    if old.less_numbers == new.less_numbers:
        return "numbers"
    if new.text in before:
        return "returning"
    fresh = new.words - old.words
    return "shared" if any((step.site, words) in shared for words in fresh) else "own"


class TermsRates(NamedTuple):
    """The rates of archived terms.

    Attributes:
        causes: Steps of all pages by cause.
        noisy: Pages whose bytes differ in at least a tenth of the steps.
        twins: Steps of pages whose bytes are those of another page of the site.
        menus: Pages, at the start, with more text in links than outside of them.
    """

    causes: Counter[Cause]
    noisy: Share
    twins: Share
    menus: Share


def is_menu(body: bytes) -> bool:
    """Return whether most of the words of a page are in links."""
    text, _ = shown(body)
    plain = b"".join(
        part.rpartition(b"</a>")[2] if place else part
        for place, part in enumerate(body.replace(b"</A>", b"</a>").split(b"<a "))
    )
    return len(shown(plain)[0]) * 2 < len(text)


def terms_rates(plan: RunPlan, site: HistorySite) -> TermsRates:
    """Return the rates of archived terms, from step to step."""
    before: dict[str, deque[bytes]] = defaultdict(lambda: deque(maxlen=_REMEMBERED))
    causes: Counter[Cause] = Counter()
    of_page: defaultdict[str, Counter[Cause]] = defaultdict(Counter)
    twins = size = 0
    last = _texts(plan, site, plan.times[0])
    menus = [is_menu(body) for body, _ in last.values()]
    for old_time, now in pairwise(plan.times):
        texts = _texts(plan, site, now)
        steps = [
            Step(
                name, name.partition("/")[0], last[name][1], text,
                has_real_change(site.versions.get(name.removesuffix(".html"), ()), old_time, now),
            )
            for name, (_, text) in texts.items()
            if name in last
        ]  # fmt: skip
        shared = shared_words(steps)
        for step in steps:
            cause = cause_of(step, before[step.document], shared)
            causes[cause] += 1
            of_page[step.document][cause] += 1
            before[step.document].append(step.old.text)
        same = Counter((step.site, step.new.digest) for step in steps)
        twins += sum(number for number in same.values() if number > 1)
        size += len(steps)
        last = texts
    noisy = [
        1 - page_counts["same"] / page_counts.total() >= 0.1 for page_counts in of_page.values()
    ]
    return TermsRates(
        causes, Share(sum(noisy), len(noisy)), Share(twins, size), Share(sum(menus), len(menus))
    )


def _texts(plan: RunPlan, site: HistorySite, now: float) -> dict[str, tuple[bytes, PageText]]:
    """Bytes and text of each document at a time, by its path in the tree."""
    texts = {}
    for folder in plan.hosts.values():
        for path in site.timeline.paths:
            if path.startswith(folder) and path.endswith(".html") and site.state(path, now):
                body = site.reply("/" + quote(path[len(folder) :]), now, folder).body
                texts[path] = body, page_text(body)
    return texts


class SiteRates(NamedTuple):
    """The rates of a rendered site.

    Attributes:
        differences: Steps of all pages by class of their difference.
        events: Steps in which at least a fifth of the pages differ, of all steps.
        in_events: Differences within such steps, of all.
        twins: Links with a query, of all links within the site: names of one page.
    """

    differences: Mapping[str, int]
    events: Share
    in_events: Share
    twins: Share


def site_rates(plan: RunPlan, truth: Truth) -> SiteRates:
    """Return the rates of a rendered site."""
    site = site_truth(plan, truth)
    sizes, counts = [], []
    for old, new in pairwise(site.states):
        common = old.keys() & new.keys()
        sizes.append(len(common))
        counts.append(sum(old[path].digest != new[path].digest for path in common))
    large = [count for count, size in zip(counts, sizes, strict=True) if count >= _EVENT * size]
    queries, links = _queries(truth, plan, list(site.states[0]))
    return SiteRates(
        site.differences, Share(len(large), len(counts)), Share(sum(large), sum(counts)),
        Share(queries, links),
    )  # fmt: skip


def _queries(truth: Truth, plan: RunPlan, paths: Sequence[str]) -> tuple[int, int]:
    """Different links with a query, and all different links, of the first state."""
    root = plan.seeds[0].removesuffix("/")
    targets: set[bytes] = set()
    for path in paths:
        answer = truth.reply(root + path, plan.times[0])
        if answer.status == 200:
            own = [link for link in shown(answer.body)[1] if b"://" not in link]
            targets.update(path.encode() + b" " + link for link in own)
    return sum(b"?" in link for link in targets), len(targets)


def lines(plan: RunPlan, truth: Truth, site: HistorySite) -> Iterator[str]:
    """Yield the rates of a world for people."""
    if plan.versions is None:
        rates = site_rates(plan, truth)
        yield f"differences from step to step: {dict(rates.differences)}"
        yield f"steps in which a fifth of the pages differ: {rates.events}"
        yield f"differences that are in such steps: {rates.in_events}"
        yield f"links with a query: {rates.twins}"
        return
    terms = terms_rates(plan, site)
    size = terms.causes.total()
    for cause, number in sorted(terms.causes.items()):
        share = Share(number, size)
        yield f"{cause:10} {share} ({wilson(share)})"
    yield f"pages that differ in a tenth of the steps: {terms.noisy}"
    yield f"steps with the bytes of another page: {terms.twins}"
    yield f"pages with most words in links: {terms.menus}"
