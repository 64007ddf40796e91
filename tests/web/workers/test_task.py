from pathlib import Path

import msgspec
import pytest

from nacre.machine.layout import Layout
from nacre.web.workers.task import SINCE, reader_task


class _Greeting(msgspec.Struct, frozen=True):
    user: str = ""
    place: str = msgspec.field(default="", name="for")


@reader_task("greet")
def _greet(_: Layout, request: _Greeting) -> str:
    return f"{request.user} {request.place}"


def test_a_task_reads_the_fields_of_its_request(tmp_path: Path):
    arguments = {"user": "anna", "for": "图书馆", SINCE: 3.0}
    assert _greet.run(Layout(tmp_path), arguments) == "anna 图书馆"
    assert _greet.run(Layout(tmp_path), {}) == " "


@pytest.mark.parametrize("name", ["requester", "who", "place"])
def test_no_argument_of_a_task_is_lost(tmp_path: Path, name: str):
    with pytest.raises(TypeError, match=f"greet has no argument {name}"):
        _greet.run(Layout(tmp_path), {"user": "anna", name: "x"})
