"""Settings of how a job is run: what it takes in while it runs, what it keeps, whom it tells."""

from typing import Literal

from pydantic import field_validator

from nacre.config.component import Component, Seconds, section, setting
from nacre.config.secret import Secret
from nacre.errors import URIError
from nacre.uri.parse import parse


class ActionSettings(Component):
    """The action directory, `action/` of the job."""

    interval: Seconds = setting(
        30.0,
        "How often the action directory is looked through: first after 10 s at most, and once "
        "more before the crawl ends. 0: never.",
        unit="s",
        sheets=False,
    )


class CheckpointSettings(Component):
    """Checkpoints that are made by themselves; `nacre checkpoint` makes one at any time."""

    interval: Seconds = setting(
        0.0,
        "Time between two checkpoints; none is made when nothing has changed. 0: no timer.",
        unit="s",
        sheets=False,
    )
    on_stop: bool = setting(
        False, "Make a checkpoint when the crawl ends and can go on later.", sheets=False
    )
    rotate_logs: bool = setting(
        False,
        "Let the logs of the run begin anew at each checkpoint, as Heritrix does: what they had "
        "goes on as `crawl.log.cp00001-20261120151100` and so on. The crawl stands still for it.",
        sheets=False,
    )
    keep: int = setting(
        0,
        "How many checkpoints are kept, the latest; those that were given a name are kept "
        "besides. 0: all.",
        unit="checkpoints",
        ge=0,
        sheets=False,
    )


Told = Literal["alert", "started", "paused", "resumed", "finished", "limit", "disk"]
"""What a webhook may be told of."""


class WebhookSettings(Component):
    """Where what happens is posted, as JSON."""

    url: str = setting(
        "", "http or https; an address in a private network is allowed. Empty: nowhere.",
        sheets=False, sample="https://ops.example/hooks/crawls",
    )  # fmt: skip
    secret: Secret = setting(
        Secret(),
        "Key of the signature (HMAC-SHA256), rather `{env: NAME}` or `{file: PATH}`. Empty: none.",
        sheets=False,
        sample="{env: NACRE_WEBHOOK_SECRET}",
    )

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("the address of a webhook begins with http:// or https://")
        try:
            return parse(value) if value else value
        except URIError as error:
            raise ValueError(str(error)) from None


class AlertSettings(Component):
    """Where alerts and other events are told, beside alerts.log."""

    webhook: WebhookSettings = section(WebhookSettings, "Where it is posted.", sheets=False)
    on: tuple[Told, ...] = setting(
        ("alert", "paused", "finished", "limit", "disk"),
        "What is posted: every `alert`; `started`, `paused`, `resumed`, `finished`; the end at a "
        "`limit`; a pause or the end for lack of `disk` space.",
        sheets=False,
    )
