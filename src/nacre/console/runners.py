"""The work that a console does by itself, beside answering."""

from collections.abc import Coroutine

from nacre.console.quota_runner import QuotaRunner
from nacre.console.schedule_runner import ScheduleRunner
from nacre.console.services import ConsoleServices
from nacre.console.webhook_runner import WebhookRunner


def runners(services: ConsoleServices) -> tuple[tuple[str, Coroutine[None, None, None]], ...]:
    """The names of all such work, and the work, which goes on until it is cancelled."""
    return (
        ("poller", services.poller.run()),
        ("launcher", services.launcher.run()),
        ("tails of logs", services.tails.run()),
        ("schedules", ScheduleRunner(services).run()),
        ("quotas", QuotaRunner(services).run()),
        ("webhooks", WebhookRunner(services).run()),
    )
