"""Orders of the operator to many queues or URIs: retire, bring back, wake, forget, reconsider."""

from collections.abc import Callable

from nacre.errors import ConfigError
from nacre.frontier.listing import Matcher, any_text
from nacre.job.assemble import Parts
from nacre.job.intake.edits import breathe, matcher
from nacre.job.visit.outcomes import scan_outcomes

_STEP = 256

ACTIONS = ("retire", "unretire", "wake", "forget", "reconsider")


async def steer(parts: Parts, action: str, queue: str = "", url: str = "") -> int:
    """Do what the operator asked for; how many queues (`forget`: URIs) it changed.

    Args:
        parts: Of the job.
        action: One of `ACTIONS`.
        queue: Found in the queue key; "" for all.
        url: Found in the URL, for `forget`; "" for all.

    Raises:
        ConfigError: No such action, or no regular expression.
    """
    queues, urls = matcher(queue), matcher(url)
    steering, mono = parts.frontier.steering, parts.clock.monotonic()
    quick: dict[str, Callable[[], int]] = {
        "retire": lambda: steering.retire(queues),
        "unretire": lambda: steering.unretire(queues),
        "wake": lambda: steering.wake(queues, mono),
    }
    if action in quick:
        number = quick[action]()
    elif action == "forget":
        number = await _forget(parts, queues, urls)
    elif action == "reconsider":
        number = await _reconsider(parts, queues)
    else:
        raise ConfigError(f"{action!r} is none of {', '.join(ACTIONS)}")
    chosen = " ".join(filter(None, (queue and f"queues {queue}", url and f"URLs {url}")))
    parts.logs.job(f"frontier {action} {chosen or 'all'}: {number}")
    parts.engine.wake()
    return number


async def _reconsider(parts: Parts, queues: Matcher) -> int:
    changed = 0
    for number, moved in enumerate(parts.frontier.steering.reconsider(queues), 1):
        changed += moved
        if number % _STEP == 0:
            await breathe(parts)
    return changed


async def _forget(parts: Parts, queues: Matcher, urls: Matcher) -> int:
    """URIs that are finished may enter again when they are found again."""
    forgotten, keys = 0, list[bytes]()
    for key, outcome in scan_outcomes(parts.store):
        in_queue = queues is any_text or queues(parts.identity.queue(outcome.url))
        if in_queue and urls(outcome.url):
            keys.append(key)
        if len(keys) >= _STEP:
            forgotten += parts.frontier.steering.forget(keys)
            keys.clear()
            await breathe(parts)
    forgotten += parts.frontier.steering.forget(keys)
    parts.candidates.recent.forget()
    return forgotten
