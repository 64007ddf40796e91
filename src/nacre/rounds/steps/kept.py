"""The candidates that a task of `generate` keeps: no more than may be in a list."""

from typing import NamedTuple

from nacre.crawldb.kernels import Kernel
from nacre.crawldb.select import SelectOptions, capped_rows

KEPT_TABLE = (
    "create temp table kept (bucket INTEGER, key VARCHAR, host VARCHAR, counted VARCHAR, "
    "domain VARCHAR, sort DOUBLE, tie UBIGINT, host_most BIGINT, domain_most BIGINT, "
    "hosts_most BIGINT)"
)
"""SQL that makes the table of the candidates of a task."""


class KeepPlan(NamedTuple):
    """The limits of all lists together.

    Attributes:
        options: Which rows may be chosen, with the caps.
        most: Candidates of all lists together; 0: no limit.
        segments: Lists that are made.
        counting: Normalizers let hosts count as others, which may be in several tasks.
    """

    options: SelectOptions
    most: int
    segments: int
    counting: bool


def kept_query(kernel: Kernel, plan: KeepPlan, *, is_range: bool = False) -> tuple[str, int]:
    """SQL of the candidates that may be in a list, and how many caps and limits leave out.

    Args:
        kernel: The kernel with the table `kept`: all candidates of a task.
        plan: The limits.
        is_range: The candidates are those of a range of keys: caps hold for other ranges too.
    """
    capped = plan.options.capped
    # Hosts that count together may be in several tasks: a cap of all leaves out others then.
    several = (plan.segments > 1 and plan.options.limits) or (plan.counting and capped)
    if is_range and capped and (plan.options.limits or several):
        return "select * from kept", 0
    rows, left_out = "select * from kept", 0
    if capped:
        within = capped_rows(plan.options, "kept", plan.segments)
        kernel.execute(f"create or replace temp table within as {within}")
        all_of, let_in = (f"select count(*) from {one}" for one in ("kept", "within"))
        left_out = int(kernel.value(f"select ({all_of}) - ({let_in})"))
    if is_range and capped:
        # Of the best of all ranges a cap leaves out more; so nobody knows yet what is too many.
        return "select * from within", left_out
    if plan.most and not several:
        if capped:
            rows = "select * from within"
        if kernel.value("select count(*) from kept") > plan.most:
            rows += f" order by sort desc, tie desc limit {plan.most}"
    return rows, left_out
