"""The error of a group of tasks (pure)."""

import asyncio
from collections.abc import Sequence


def first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error of a group of tasks that caused the others, which were cancelled."""
    todo: list[Sequence[BaseException]] = [errors.exceptions]
    while todo:
        for error in todo.pop(0):
            if isinstance(error, BaseExceptionGroup):
                todo.append(error.exceptions)
            elif not isinstance(error, asyncio.CancelledError):
                return error
    return errors
