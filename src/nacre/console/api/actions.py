"""`/api/v1/jobs/J/start` and the other actions on a job."""

from nacre.console.actions import ActionDone, act
from nacre.console.call import Call


async def take_action(call: Call) -> ActionDone:
    """Take the action that the path ends with."""
    action = call.request.url.path.rpartition("/")[2]
    return await act(call.services, call.job(), action, call.body, call.identity)
