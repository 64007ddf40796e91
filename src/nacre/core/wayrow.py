"""How a page is reached, and where its last version lies: what a visit needs beside its row."""

import msgspec


class WayRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a page was found the first time, so that the scope can be asked again.

    Attributes:
        via: The page that led there; "" for a seed.
        path: Its hop path; "" for a seed.
        context: Its link context.
        source: Its source tag; "" for none.
        owner: The seed with a scope of its own that it descends from; "" for none.
        sitemap: Its page said that it is a sitemap.
    """

    via: str = ""
    path: str = ""
    context: str = ""
    source: str = ""
    owner: str = ""
    sitemap: bool = False


class VersionRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The last version of a page that counted, to be read back when the page looks changed.

    Attributes:
        digest: Its payload digest.
        framing: Its transfer framing: `chunked` or "".
        charset: Charset it was read in; "" for none.
        full: When a version was last stored in full, seconds since the epoch.
    """

    digest: str
    framing: str = ""
    charset: str = ""
    full: float = 0.0


class ChosenRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A visit that the planner chose in the current step, so that a killed run can go on.

    Attributes:
        url: Of what.
        chance: Its forecast.
        reason: Why.
        propensity: Probability with which it was chosen.
        done: It was made.
    """

    url: str
    chance: float = 0.0
    reason: str = ""
    propensity: float = 1.0
    done: bool = False
