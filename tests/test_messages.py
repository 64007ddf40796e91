"""Messages: codes with parameters, in both languages."""

import ast
import copy
import json
import pickle
import re
from collections import defaultdict
from collections.abc import Iterator
from string import Formatter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.message_data import (
    decode_message,
    encode,
    from_stored_json,
    from_stored_text,
    restore,
    to_json,
    to_stored_json,
    to_stored_text,
    with_codes,
)
from nacre.errors import ConfigError, JobError, Problem
from nacre.languages import CHINESE, read_texts
from nacre.messages import (
    SEMICOLON,
    Message,
    capitalize,
    join,
    message,
    pack,
    plural,
    static,
    unpack,
)
from tools.message_texts import SOURCE, declared_messages

CODE = re.compile(r"[a-z][a-z-]*\.[a-z0-9]+(-[a-z0-9]+)*")


def fields(template: str) -> set[str]:
    return {name for name, _, _ in places(template)}


def places(template: str) -> set[tuple[str, str, str]]:
    """Each field with its format and its conversion."""
    parsed = Formatter().parse(template)
    return {(name, form or "", to or "") for _, name, form, to in parsed if name is not None}


def test_each_code_has_one_template():
    templates = defaultdict(set)
    for declared in declared_messages():
        assert CODE.fullmatch(declared.code), declared
        templates[declared.code].add(declared.templates)
    assert [code for code, known in templates.items() if len(known) > 1] == []


VAGUE = re.compile(
    r"(wanted|found|said|told|made|kept|given|taken|who|what|why|which|there|it|its|that|this)"
)


def test_codes_are_plain_nouns():
    words = {word for declared in declared_messages() for word in re.split("[.-]", declared.code)}
    assert {word for word in words if VAGUE.fullmatch(word)} <= {"given"}, "diagnosis.given-up"


def test_each_message_is_in_both_languages():
    chinese = read_texts(CHINESE)
    for declared in declared_messages():
        text = chinese.get(declared.code, "")
        assert text, f"{declared.code} has no Chinese"
        assert places(text) == places(declared.template), declared.code


def test_no_module_recognizes_texts_of_messages():
    """Patterns and parts of texts are compared with what others wrote, never with messages."""
    templates = {one.template for one in declared_messages() if one.template.count(" ") >= 2}
    matches = [
        (place, text)
        for place, text in compared_texts()
        if any(text in template for template in templates)
    ]
    assert matches == []


def compared_texts() -> Iterator[tuple[str, str]]:
    """The texts of three words or more that a module compares others with."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for part in compared(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    words = part.value.replace("\\", "").strip()
                    if words.count(" ") >= 2:
                        yield path.relative_to(SOURCE).as_posix(), words


ENCODERS = frozenset(("msgspec.to_builtins", "msgspec.json.encode", "msgspec.json.Encoder"))


@pytest.mark.parametrize("package", ["cli", "console", "inspect", "ops"])
def test_what_people_and_programs_read_is_encoded_with_its_messages(package: str):
    """msgspec refuses messages: these packages use `core.message_data`, or a hook.

    Only digests, which have an `order`, are of plain data.
    """
    direct: set[tuple[str, int]] = set()
    hooked: set[tuple[str, int]] = set()
    for path in (SOURCE / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            place = path.relative_to(SOURCE).as_posix(), getattr(node, "lineno", 0)
            if isinstance(node, ast.Attribute) and ast.unparse(node) in ENCODERS:
                direct.add(place)
            elif isinstance(node, ast.Call):
                hooked.update(place for part in node.keywords if part.arg in {"enc_hook", "order"})
    assert direct - hooked == set()


COMPARING = frozenset(
    ("compile", "match", "search", "fullmatch", "startswith", "endswith", "partition",
     "rpartition", "find", "index", "count")
)  # fmt: skip


def compared(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name in COMPARING:
            return args
        case ast.Compare(left=left, comparators=rest):
            return [left, *rest]
        case _:
            return []


def test_each_call_has_the_parameters_of_its_template():
    wrong = [
        declared
        for declared in declared_messages()
        for template in declared.templates
        if declared.params is not None
        and (not fields(template) <= declared.params or declared.params > fields(declared.template))
    ]
    assert wrong == []


def test_a_message_is_its_english_text():
    text = message("job.no-run", "there is no run {number:,}", number=1234)
    assert text == "there is no run 1,234"
    assert type(str(text)) is str
    assert (text.code, dict(text.params)) == ("job.no-run", {"number": 1234})


def test_parameters_are_numbers_texts_and_messages():
    inner = message("a.b", "inner")
    text = message("a.c", "{error}, {place}", error=JobError(inner), place=[1])
    assert text.params["error"] is inner
    assert text == "inner, [1]"


@pytest.mark.parametrize(("number", "text"), [(1, "1 URI"), (0, "0 URIs"), (2, "2 URIs")])
def test_a_number_chooses_the_form(number: int, text: str):
    made = plural("a.b", "{number} URI", "{number} URIs", number=number)
    assert made == text
    assert made.code == "a.b"


def test_texts_are_joined_as_a_message():
    text = join((message("a.b", "first"), "", "second"), *SEMICOLON)
    assert text == "first; second"
    assert isinstance(text, Message)
    assert join((), *SEMICOLON) == ""


def test_a_message_is_written_in_another_language():
    chinese = {"a.b": "内", "a.c": "外 {inner} {number}"}
    text = message("a.c", "{number} {inner}", number=3, inner=message("a.b", "inner"))
    assert text.write(lambda one: chinese[one.code]) == "外 内 3"


@pytest.mark.parametrize(
    "template", ["{other}", "{", "{}", "{name:,}", "{number.x}", "{number[0]}", "{number:s}"]
)
def test_a_translation_that_does_not_fit_leaves_the_text_english(template: str):
    text = message("a.b", "{name} {number}", name="{x}", number=3)
    assert text.write(lambda _: template) == "{x} 3"


def test_a_capitalized_message_keeps_its_code():
    inner = message("a.b", "too little")
    text = capitalize(message("a.c", "{inner}: {number} pages", inner=inner, number=3))
    assert text == "Too little: 3 pages"
    assert isinstance(text, Message)
    assert (text.code, capitalize(inner), capitalize("ab")) == ("a.c", "Too little", "Ab")


def test_braces_of_a_static_text_stay():
    assert static("`{env: NAME}`") == "`{env: NAME}`"
    assert static("") == ""


@given(st.text(), st.integers(), st.text())
def test_a_message_survives_data_copies_and_json(place: str, number: int, inner: str):
    text = message("a.b", "{place} {number} {inner}", place=place, number=number,
                   inner=message("a.c", "{inner}", inner=inner))  # fmt: skip
    back = msgspec.msgpack.Decoder(ext_hook=decode_message).decode(encode({"texts": [text]}))
    data = restore(json.loads(json.dumps(with_codes({"texts": [text, "plain"]}))))
    assert data["texts"][1] == "plain"
    for one in (unpack(pack(text)), copy.deepcopy(text), pickle.loads(pickle.dumps(text)),
                back["texts"][0], data["texts"][0]):  # fmt: skip
        assert one == text
        assert pack(one) == pack(text)
    assert json.loads(to_json({"text": text})) == {"text": str(text)}


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {"code": "a.b"},
        {"code": "a.b", "template": "{missing}", "params": {}},
        {"code": "a.b", "template": "{", "params": {}},
        {"code": "a.b", "template": "{x.y}", "params": {"x": 1}},
        {"code": 1, "template": "", "params": {}},
    ],
)
def test_odd_data_are_no_message(odd: object):
    with pytest.raises(ValueError):  # noqa: PT011 - any of them
        unpack(odd)


@pytest.mark.parametrize("at", [[], ["x"], ["text", 0], ["texts", 9], None, ["number"]])
def test_odd_places_change_nothing(at: object):
    plain = {"text": "a", "texts": ["b"], "number": 1}
    packed = {"at": at, "code": "a.b", "template": "c", "params": {}}
    assert restore({**plain, "messages": [packed, 3]}) == plain


def test_an_error_has_its_message():
    text = message("a.b", "what failed")
    assert JobError(text).message is text
    assert str(JobError(text)) == "what failed"
    assert JobError("plain").message == "plain"


def test_the_problems_of_a_configuration_are_a_message():
    problem = Problem("a.b", message("a.c", "wrong"), "a number", "a: 1", "job.yaml", 3)
    error = ConfigError([problem, Problem("", "other")])
    assert str(error) == (
        "job.yaml:3: a.b: wrong\n    expected: a number\n    for example: a: 1\nother"
    )
    assert isinstance(error.message, Message)


class StoredNote(msgspec.Struct, frozen=True):
    text: str
    time: float = 0.0


def test_stored_data_keep_the_codes_of_their_messages():
    text = message("job.no-run", "there is no run {number}", number=7)
    notes = (StoredNote(text, 1), StoredNote("a quota"))
    restored = from_stored_json(to_stored_json(notes), tuple[StoredNote, ...])
    assert restored == notes
    first, second = restored
    assert isinstance(first.text, Message)
    assert (first.text.code, first.text.params) == ("job.no-run", {"number": 7})
    assert type(second.text) is str


@pytest.mark.parametrize(
    "data",
    [
        b'{"text":"there is no run 7","time":1.0}',
        b'{"text":"there is no run 7","time":1.0,"messages":7}',
        b'{"text":"there is no run 7","time":1.0,"messages":[{"at":["text"],"code":1}]}',
        b'{"text":"there is no run 7","time":1.0,"messages":[{"at":["time"],"code":"x.y"}]}',
    ],
)
def test_stored_data_without_usable_codes_are_plain_english(data: bytes):
    note = from_stored_json(data, StoredNote)
    assert (note, type(note.text)) == (StoredNote("there is no run 7", 1.0), str)


def test_stored_data_of_another_type_are_an_error():
    for data in (b"", b"[", b'{"text":7,"messages":[]}'):
        with pytest.raises(msgspec.MsgspecError):
            from_stored_json(data, StoredNote)


@given(st.text() | st.just('{"text":"x"}') | st.just('{"text'))
def test_a_column_of_texts_has_messages_and_texts(text: str):
    stored = to_stored_text(message("job.note", "about {text}", text=text))
    restored = from_stored_text(stored)
    assert isinstance(restored, Message)
    assert (restored, restored.code) == (f"about {text}", "job.note")
    assert from_stored_text(to_stored_text("no reply: " + text)) == "no reply: " + text
