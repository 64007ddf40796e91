"""One line of the fetch log: what a visit found, and why it was made."""

import msgspec


class FetchRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One visit; rows are only ever added.

    Attributes:
        url: Of what.
        time: When, seconds since the epoch; the time the capture began where there is one.
        run: Number of the run.
        status: Fetch status.
        answer: What it said of the page's existence (`history.verdict.deletion.Answer`): `there`,
            `missing`, `gone`, `soft-404`, `moved`, `silent`.
        kind: How it differs from the last version: `none`, `markup`, `noise`, `template`, `minor`,
            `major`; `new` for the first visit.
        score: Share of the page that differs, 0 to 1.
        reason: Code of what decided.
        wanted: Why the planner chose it (`history.recrawl.choice`); `embed` for what a page
            embeds; "" for what it did not choose, as in a full run.
        propensity: Probability with which it was chosen: 1 but for lots.
        chance: The forecast that there was something to keep.
        bytes: Bytes of payload received.
        stored: What the archive got: `novel`, `duplicate`, `not-modified`, `noted` (metadata
            only), `delta` (a difference), "" for nothing.
        patch: Bytes of the difference, for `delta`.
    """

    url: str
    time: float
    run: int
    status: int
    answer: str = ""
    kind: str = ""
    score: float = 0.0
    reason: str = ""
    wanted: str = ""
    propensity: float = 1.0
    chance: float = 0.0
    bytes: int = 0
    stored: str = ""
    patch: int = 0

    @property
    def verdict(self) -> str:
        """What it found: how a page that was there differs, or what was said of its existence."""
        return self.kind or "none" if self.answer in {"there", ""} else self.answer
