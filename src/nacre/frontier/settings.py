"""What an operator may set about politeness and the frontier."""

from typing import Literal

from nacre.config.component import Component, Seconds, section, setting
from nacre.frontier.choices import QueueAssignment, QueuePrecedence, UriPrecedence
from nacre.frontier.cost import CostPolicy


class PolitenessSettings(Component):
    """How long a queue waits between two fetches."""

    delay_factor: float = setting(
        5.0, "The wait is this many times the duration of the last fetch.", ge=0
    )
    min_delay: Seconds = setting(3.0, "Shortest wait that follows from the duration.", unit="s")
    max_delay: Seconds = setting(
        30.0, "Longest wait that follows from the duration; it wins over min_delay.", unit="s"
    )
    delay: Seconds | None = setting(
        None,
        "Fixed wait in place of `delay_factor`, `min_delay` and `max_delay`; None: what these "
        "give. 0 only where you may.",
        unit="s",
    )
    respect_crawl_delay_up_to: Seconds = setting(
        300.0, "Crawl-delay of robots.txt raises the wait, up to this; 0 ignores it.", unit="s"
    )
    respect_retry_after_up_to: Seconds = setting(
        3600.0, "Retry-After of a reply raises the wait, up to this; 0 ignores it.", unit="s"
    )
    backoff_up_to: Seconds = setting(
        300.0,
        "429, 503 and rising latency raise the wait, up to this; 0 switches that off.",
        unit="s",
    )
    group_by: Literal["address", "domain", "none"] = setting(
        "address",
        "Queues that wait for each other as if they were one: those whose hosts have an `address` "
        "in common, those of one registered `domain`, or `none`.",
    )
    shared_slots: bool = setting(
        True,
        "Jobs of one user on one machine that fetch from the same host are together as polite as "
        "one: they share its turns in `~/.cache/nacre/slots`. Queues with a delay of 0 do not.",
        live=False,
        sheets=False,
    )
    in_flight: int = setting(1, "Fetches of one queue at the same time.", unit="URIs", ge=1)


class TrapSettings(Component):
    """Places without end: calendars, sessions in URLs, all combinations of a shop's filters."""

    learn: bool = setting(
        True,
        "Learn while crawling which links promise nothing new, and fetch them after all others. No "
        "link is refused for it. Incremental runs have `recrawl.trap_share`.",
    )
    budget: int = setting(
        100,
        "URLs of endless places that are fetched of each queue once nothing else is left; the run "
        "ends behind them. 0 for none, -1 for no limit (`nacre run --traps`).",
        unit="URLs",
        ge=-1,
    )


class FrontierSettings(Component):
    """Order, budgets and retries."""

    balance_replenish: int = setting(
        3000,
        "What a queue may spend before the next inactive queue takes its turn; 0 for no rotation.",
        unit="cost",
        ge=0,
    )
    queue_total_budget: int = setting(
        -1, "What a queue may spend in all before it is retired; -1 for no limit.", unit="cost"
    )
    force_retire: bool = setting(
        False, "Retire the queue: nothing in it is fetched. Meant for sheets."
    )
    error_penalty: int = setting(
        100,
        "What a final failure costs its queue, on top of the cost of the fetch.",
        unit="cost",
        ge=0,
    )
    cost: CostPolicy = setting(
        "unit",
        "Cost of a fetch. `unit`: 1; `zero`: 0, which switches the budgets off; `wag`: 1, 1 more "
        "for a query, 1 more again if the page it was found on begins the same; `anti-calendar`: "
        "1, 1 more for a URL that looks like a calendar's.",
    )
    queue_assignment: QueueAssignment = section(QueueAssignment, "Which queue a URI goes to.")
    uri_precedence: UriPrecedence = section(UriPrecedence, "Where a URI stands in its queue.")
    queue_precedence: QueuePrecedence = section(QueuePrecedence, "When a queue has its turn.")
    precedence_floor: int = setting(
        255, "Queues of this precedence and above are never activated.", sheets=False, ge=0, le=255
    )
    preference_embed_hops: int = setting(
        1, "URIs this many embed hops from a page go before its links; 0 for none.", ge=0
    )
    preference_depth_hops: int = setting(
        -1, "URIs within this many hops go first; 0 for all, depth first; -1 for none.", ge=-1
    )
    max_retries: int = setting(
        30, "Tries of a URI that cannot be connected to (-1 to -4).", unit="tries", ge=1
    )
    retry_delay: Seconds = setting(
        60.0, "Wait before the first retry; doubled each time.", unit="s"
    )
    retry_delay_max: Seconds = setting(900.0, "Longest wait before a retry.", unit="s")
    throttled_retries: int = setting(
        5, "Retries of a reply 429 or 503 before it is kept as it is.", unit="tries", ge=0
    )
    throttled_wait_max: Seconds = setting(
        3600.0, "Longest wait of a queue that answered 429 or 503.", unit="s"
    )
    truncated_retries: int = setting(
        2, "Retries of a body that was cut short before it is kept.", unit="tries", ge=0
    )
    last_tries: int = setting(
        3, "Further tries once nothing but retries is left.", unit="tries", sheets=False, ge=1
    )
    last_tries_within: Seconds = setting(
        600.0,
        "Time for the last tries; what has not succeeded by then has failed.",
        unit="s",
        sheets=False,
    )
    last_extras_within: Seconds = setting(
        30.0,
        "Time for the one more try of embeds and guesses, and of the robots.txt that only they "
        "need, once nothing but retries is left.",
        unit="s",
        sheets=False,
    )
    recovery_log: bool = setting(
        False,
        "Write what happens to each URI to frontier.recover.gz, as Heritrix does, so that another "
        "crawler can go on; Nacre itself needs none.",
        live=False,
        sheets=False,
    )
    max_queues_in_memory: int = setting(
        50_000,
        "Queues kept in memory; the others stay in the store.",
        unit="queues",
        live=False,
        sheets=False,
        ge=16,
    )
    recent_keys: int = setting(
        16_777_216,
        "URIs that may be remembered in memory to spare look-ups, 7 bytes each; memory is taken "
        "as the number of known URIs grows. 0 for next to none.",
        unit="URIs",
        live=False,
        sheets=False,
        ge=0,
    )
