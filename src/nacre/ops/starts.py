"""Start a job, visit it again: the options, and the command that carries them out.

The process that runs a job is always a command, so that a job outlives who starts it.
"""

from typing import Literal

import msgspec

from nacre.errors import ConfigError
from nacre.messages import message
from nacre.ops.fields import ShortText, Texts
from nacre.ops.operation import option_words
from nacre.runs.budget import parse_budget


class StartRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


class RecrawlRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


def run_words(request: StartRequest) -> list[str]:
    """Return the options of `nacre run` for a start (pure)."""
    return option_words(request, without=("paused",))


def recrawl_words(request: RecrawlRequest) -> list[str]:
    """Return the options of `nacre recrawl` for a recrawl (pure).

    Raises:
        ConfigError: The options exclude each other, or the budget cannot be read.
    """
    if request.full and request.budget:
        raise ConfigError(
            message(
                "ops.full-recrawl-budget",
                "a full recrawl visits everything and knows no budget",
            )
        )
    parse_budget(request.budget)
    return option_words(request)
