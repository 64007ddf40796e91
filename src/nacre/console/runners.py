"""The work that a console does by itself, beside answering."""

from collections.abc import Coroutine
from typing import Final

from nacre.console.quota_runner import QuotaRunner
from nacre.console.schedule_runner import ScheduleRunner
from nacre.console.services import ConsoleServices
from nacre.console.webhook_runner import WebhookRunner

WARM: Final = 3.0
"""Seconds after its start when a console starts its reader processes: first it answers."""


async def warm_readers(services: ConsoleServices) -> None:
    """Start the reader processes, so that no page waits for them."""
    await services.clock.sleep(WARM)
    await services.readers.warm()


def runners(services: ConsoleServices) -> tuple[tuple[str, Coroutine[None, None, None]], ...]:
    """The names of all such work, and the work, which goes on until it is cancelled."""
    return (
        ("poller", services.poller.run()),
        ("readers", warm_readers(services)),
        ("launcher", services.launcher.run()),
        ("tails of logs", services.tails.run()),
        ("schedules", ScheduleRunner(services).run()),
        ("quotas", QuotaRunner(services).run()),
        ("webhooks", WebhookRunner(services).run()),
    )
