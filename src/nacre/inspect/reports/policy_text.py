"""The policies that hold, in words, for `nacre status`."""

from collections.abc import Iterator

from nacre.engine.limits import describe
from nacre.frontier.bandwidth import BandwidthLimits
from nacre.frontier.quota import checks
from nacre.frontier.settings import FrontierSettings
from nacre.messages import message
from nacre.settings.settings import JobSettings


def policy_lines(settings: JobSettings, pace: BandwidthLimits | None = None) -> Iterator[str]:
    """One line each for order, budgets, quotas and bandwidth; those without limits left out.

    Args:
        settings: Without sheets.
        pace: What holds at the moment; None when the job does not run.
    """
    frontier = settings.frontier
    yield _order(frontier)
    yield _budget(frontier)
    quotas = [f"{check.level}.{check.name} {check.limit:,}" for check in checks(settings.quotas)]
    if quotas:
        yield f"quotas: {', '.join(quotas)}"
    if pace is not None and pace != BandwidthLimits():
        yield f"bandwidth, {describe(pace)}"


def _order(frontier: FrontierSettings) -> str:
    choice = frontier.queue_assignment
    split = (
        message(
            "report.queue-split",
            ", each split into {parallel_queues}",
            parallel_queues=choice.parallel_queues,
        )
        if choice.parallel_queues > 1
        else ""
    )
    return message(
        "report.queue-policy",
        "queues by {force}{split}; their precedence: {policy}; that of URIs: {policy2}",
        force=choice.force or choice.policy,
        split=split,
        policy=frontier.queue_precedence.policy,
        policy2=frontier.uri_precedence.policy,
    )


def _budget(frontier: FrontierSettings) -> str:
    total = frontier.queue_total_budget
    whole = (
        f"{total:,} in all" if total >= 0 else message("report.no-total-budget", "no limit in all")
    )
    return message(
        "report.cost-policy",
        "cost {cost}; a queue may spend {balance_replenish:,} a turn, {whole}",
        cost=frontier.cost,
        balance_replenish=frontier.balance_replenish,
        whole=whole,
    )
