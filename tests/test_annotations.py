"""Every annotation that the code writes is in the table, and each row of the table is written."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from nacre import annotations
from nacre.annotations import ANNOTATIONS, Annotation

SOURCE = Path(__file__).parent.parent / "src" / "nacre"
HOME = SOURCE / "annotations.py"
LISTS = {"annotations", "oddities"}
"""Lists, fields and arguments that hold annotations."""
OF_WIRE = {"_note", "notes", "_fail"}
"""What else holds or takes them in `wire/`; elsewhere these names mean other things."""


@cache
def parsed(path: Path) -> ast.Module:
    # A finalizer that runs meanwhile makes `compile` of Python 3.11 fail (cpython issue 106905).
    gc.disable()
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()


def sources() -> Iterator[tuple[str, ast.Module]]:
    """The modules that name what annotations are written with."""
    names = ("annotate", "annotation", *LISTS, *OF_WIRE)
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        if path != HOME and any(name in text for name in names):
            yield str(path.relative_to(SOURCE)), parsed(path)


def literals(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may become: written there, not asked of the table."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and node.value):
        if isinstance(node, ast.JoinedStr) or isinstance(node.value, str):
            yield ast.unparse(node)
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.BoolOp | ast.Tuple | ast.List):
        for one in node.values if isinstance(node, ast.BoolOp) else node.elts:
            yield from literals(one)
    elif isinstance(node, ast.Starred):
        yield from literals(node.value)


def written(path: str, tree: ast.Module) -> Iterator[ast.expr]:
    """Whatever a module writes as an annotation."""
    held = LISTS | OF_WIRE if path.startswith("wire/") else LISTS
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).split(".")
            if called[-1] in {"append", "extend"}:
                called.pop()
            if called and (called[-1] == "annotate" or called[-1] in held):
                yield from node.args
            for keyword in node.keywords:
                if keyword.arg in {"annotation", *LISTS}:
                    yield keyword.value
        elif isinstance(node, ast.AugAssign) and _last(node.target) in held:
            yield node.value


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def test_no_module_writes_an_annotation_that_the_table_does_not_have():
    found = [
        f"{path}:{value.lineno}: {text}"
        for path, tree in sources()
        for value in written(path, tree)
        for text in literals(value)
    ]
    assert found == []


def test_the_search_finds_what_is_written_by_hand():
    tree = ast.parse(
        "visit.annotate(f'a:{b}')\nx.annotations.append('c' if d else '')\n"
        "y(annotations=[e, 'f'])\nself._fail('g', line)\n"
    )
    texts = [text for value in written("wire/x.py", tree) for text in literals(value)]
    assert texts == ["f'a:{b}'", "'c'", "'f'", "'g'"]


def public(name: str) -> str:
    """What a module names to write an annotation."""
    return "charset_of" if name.startswith("charset_of ") else name


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_each_annotation_is_written_where_the_table_says(name: str):
    assert hasattr(annotations, public(name))
    assert ANNOTATIONS[name].writers
    for writer in ANNOTATIONS[name].writers:
        tree = parsed(SOURCE / writer)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert public(name) in used, f"{writer} does not write {ANNOTATIONS[name].token}"


def test_a_module_that_uses_the_table_to_write_is_named_in_it():
    named = {(public(name), writer) for name, one in ANNOTATIONS.items() for writer in one.writers}
    unnamed = []
    for path, tree in sources():
        for value in written(path, tree):
            for node in ast.walk(value):
                name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
                if name in {public(one) for one in ANNOTATIONS} and hasattr(annotations, name):
                    is_table = isinstance(node, ast.Name) or ast.unparse(node).startswith("annot")
                    if is_table and (name, path) not in named and _imports(tree, name):
                        unnamed.append(f"{path}: {name}")
    assert unnamed == []


def _imports(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and (
            (node.module == "nacre.annotations" and name in {one.name for one in node.names})
            or (node.module == "nacre" and "annotations" in {one.name for one in node.names})
        )
        for node in ast.walk(tree)
    )


@pytest.mark.parametrize(
    ("made", "token"),
    [
        (annotations.attempts(3), "3t"),
        (annotations.error(ValueError("x")), "err=ValueError"),
        (annotations.regex_timeout(2), "regexTimeout:2"),
        (annotations.runtime_exceeded(1.5), "Runtime exceeded 1500ms"),
        (annotations.quota("hostMaxFetchSuccesses"), "Q:hostMaxFetchSuccesses"),
        (annotations.diverted("b"), "to:b"),
        (annotations.unsatisfiable_encoding("x"), "unsatisfiableContentEncoding:x"),
        (annotations.encoding_mismatch("x"), "contentEncodingMismatch:x"),
        (annotations.content_checksum("x"), "contentChecksum:x"),
        (annotations.content_trailing_junk("x"), "contentTrailingJunk:x"),
        (annotations.encoding_broken("x"), "contentEncodingBroken:x"),
        (annotations.encoding_cut("x"), "contentEncodingCut:x"),
        (annotations.charset_of("meta", "GBK"), "usingCharsetInHTML:GBK"),
        (annotations.charset_of("header", "GBK"), ""),
        (annotations.dropped_outlinks(7), "dol:7"),
        (annotations.delta(2), "delta:2"),
        (annotations.verdict("minor", 0.25), "verdict:minor:0.250"),
    ],
)
def test_annotations_with_values(made: str, token: str):
    assert made == token


WORDS = """
Nt robotExcluded speculativeHopeless cookieWall isSitemap ignored unaskedReply timeTrunc lenTrunc
headerTrunc midFetchAbort tlsNoCloseNotify noReply tlsOnPlainPort tooManyInterim headerCut http09
trailerCut shortBody excessData badChunk trailerTrunc tooManyChunks unasked101 badTransferEncoding
lengthAndChunked chunkedInHttp10 conflictingLength badLength repeatedLength leadingBlankLine bareLf
nulInHeader foldedHeader headerWithoutColon spaceBeforeColon headerWithoutName icy oddVersion
badStatusLine oddStatus noReason parserTimeout parserFailed trapSuppressExtractor unrecorded
longValidator audit untrusted-validators pair duplicate:digest duplicate:server-not-modified
duplicate:noted duplicate:delta
"""
"""Scripts of operators look for them: none is changed or taken away."""


def test_the_words_stay_as_they_are():
    tokens = [one.token for one in ANNOTATIONS.values()]
    assert len(set(tokens)) == len(tokens)
    assert set(WORDS.split()) <= set(tokens)


def test_a_row_says_what_it_means():
    for one in ANNOTATIONS.values():
        assert isinstance(one, Annotation)
        assert one.meaning.endswith((".", ").", "`."))
