"""When a session is over."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock, Mock

import pytest

from nacre.job.session import Session
from nacre.job.states import ExitStatus


@pytest.mark.parametrize("added", [False, True])
def test_what_is_added_while_the_planner_thinks_is_not_left_behind(*, added: bool):
    session: Any = SimpleNamespace(
        _asked=None,
        _is_done=Mock(return_value=True),
        _is_settled=AsyncMock(return_value=not added),
        _more=AsyncMock(return_value=False),
        _into_traps=lambda: False,
        _is_stuck=lambda: False,
        _finished=lambda: ExitStatus.FINISHED,
        _clock=Mock(),
        space=Mock(waited_too_long=Mock(return_value=False)),
        _limit=lambda: None,
    )
    how = asyncio.run(Session._over(cast("Session", session)))
    assert how == (None if added else ExitStatus.FINISHED)
