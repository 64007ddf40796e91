"""Settings of how a job is run: what it takes in while it runs, what it keeps, whom it tells."""

from typing import Literal

from nacre.config.component import Component, Seconds, setting


class ActionSettings(Component):
    """The action directory, `action/` of the job."""

    interval: Seconds = setting(
        30.0,
        "It is looked through so often; first after at most 10 s, and once more before the crawl "
        "ends. 0: never.",
        unit="s",
        sheets=False,
    )


class CheckpointSettings(Component):
    """Checkpoints that are made by themselves; `nacre checkpoint` makes one at any time."""

    interval: Seconds = setting(
        0.0, "Time between two, when something changed meanwhile; 0: none.", unit="s", sheets=False
    )
    on_stop: bool = setting(
        False, "Make one when the crawl ends and can go on later.", sheets=False
    )
    keep: int = setting(
        0,
        "How many of those without a name of their own are kept, the latest; 0: all.",
        unit="checkpoints",
        ge=0,
        sheets=False,
    )


Told = Literal["alert", "started", "paused", "resumed", "finished", "limit", "disk"]
"""What a webhook may be told of."""
