"""`/api/v1/jobs/J/start` and the other actions on a job."""

from typing import Literal

import msgspec

from nacre.console.actions import ActionDone, ActionOptions, act
from nacre.console.bounds import Rounds, ShortText, Texts, Whole
from nacre.console.call import Call


class StartWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a start.

    Attributes:
        checkpoint: Go back to this checkpoint first; `latest` for the last one; "" for none.
        paused: It waits for `resume` before its first fetch.
        accept_loss: Start though archived data is missing.
        set: Other settings for this run, `path=value`.
    """

    checkpoint: ShortText = ""
    paused: bool = False
    accept_loss: bool = False
    set: Texts = ()


class RecrawlWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a recrawl.

    Attributes:
        full: Visit everything, as the first run did.
        budget: What it may spend: 500 (requests), 2GB or 3h; "" for no limit.
        keep: What is stored in full.
        set: Other settings for this run, `path=value`.
    """

    full: bool = False
    budget: ShortText = ""
    keep: Literal["strict", "lean", "delta"] = "strict"
    set: Texts = ()


class CheckpointWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a checkpoint.

    Attributes:
        name: Its name; "" for one by number and time.
    """

    name: ShortText = ""


class RoundsWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of rounds.

    Attributes:
        rounds: Their number; 0 for as many as it takes until nothing is due.
        set: Other settings for these rounds, `path=value`.
        top: URLs of a round, the best first; 0 for all that are due, null as the settings say.
        units: Lists that are fetched at the same time; 0: one for each core.
        time_limit: Longest fetch of a round, such as `2h`; "" as the settings say.
        until_due: Longest wait for something to be due, such as `2h`; "" for none.
        dedup: Pages that are compared for duplicates; `off` for no dedup; "" as the settings say.
        sitemaps: URLs of sitemaps that are read before the first round.
        sitemaps_from_hosts: When the sitemaps that hosts name are read; "" as the settings say.
        index: Whether changes go into the index of words after each round; null as the settings
            say.
        engine: What runs the tasks.
        tasks: Tasks at the same time on this machine; 0: one for each core.
        parallel: Fetches at the same time in a unit; 0: as the settings say.
    """

    rounds: Rounds = 1
    set: Texts = ()
    top: Whole | None = None
    units: Rounds = 0
    time_limit: ShortText = ""
    until_due: ShortText = ""
    dedup: Literal["", "none", "host", "domain", "off"] = ""
    sitemaps: Texts = ()
    sitemaps_from_hosts: Literal["", "never", "once", "always"] = ""
    index: bool | None = None
    engine: Literal["local", "spark"] = "local"
    tasks: Rounds = 0
    parallel: Rounds = 0


class NoWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of an action without options."""


async def take_action(call: Call) -> ActionDone:
    """Take the action that the path ends with."""
    action = call.request.url.path.rpartition("/")[2]
    options = msgspec.convert(msgspec.to_builtins(call.body), ActionOptions)
    return await act(call.services, call.job(), action, options, call.identity)
