"""Expressions of Nutch in JEXL become SQL, where they compare and compute and do nothing else.

Source: Apache Commons JEXL 3, the syntax of comparisons, arithmetic and conditions; Nutch,
`CrawlDatum.execute`, for the variables. A variable is a column; one that is none of Nutch's is a
key of the metadata. Of a document, `doc.getFieldValue` and methods of texts are read. What calls
anything else, assigns, branches by `if` or loops is not translated.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from nacre.search.document import FIELDS

_DOCUMENT = "doc"
_LONGEST = 10_000
_DEEPEST = 40
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)[lLfFdDhHbB]?(?![\w.])
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<field>doc\s*\.\s*getFieldValue\(\s*(?:'[^'\\]*'|"[^"\\]*")\s*\))
    |(?P<method>\.\s*(?:contains|startsWith|endsWith|equals|matches)
        \(\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\))
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<sign>==|!=|<=|>=|&&|\|\||=~|!~|=\^|!\^|=\$|!\$|[-+*/%()<>!?:])
    )""",
    re.VERBOSE,
)
_WORDS = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "&&",
    "or": "||",
    "not": "!",
    "mod": "%",
    "div": "/",
}
_LITERALS = {"true": "true", "false": "false", "null": "null"}
_COMPARE = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MATCHES = {
    "=~": "regexp_full_match({0}, {1})",
    "!~": "not regexp_full_match({0}, {1})",
    "=^": "starts_with({0}, {1})",
    "!^": "not starts_with({0}, {1})",
    "=$": "ends_with({0}, {1})",
    "!$": "not ends_with({0}, {1})",
}
_METHODS = {
    "contains": "contains({0}, {1})",
    "startsWith": "starts_with({0}, {1})",
    "endsWith": "ends_with({0}, {1})",
    "equals": "({0} = {1})",
    "matches": "regexp_full_match({0}, {1})",
}
"""Methods of a text."""

_FIELD_NAMES = {"lastModified": "modified", "date": "modified", "contentLength": "length"}
_LISTS = ("site", "anchor")
_ESCAPE = re.compile(r"\\(.)")


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "the end")


def sql_of(expression: str, columns: Mapping[str, str], metadata: str = "") -> str:
    """The SQL of an expression.

    Args:
        expression: In JEXL.
        columns: The SQL of each variable.
        metadata: The column of the metadata, a map of texts, for other variables; "" for none.

    Raises:
        ValueError: It does more than compare and compute; the message has the place.
    """
    if len(expression) > _LONGEST:
        raise ValueError("the expression is too long")
    reader = _Reader(_tokens(expression), columns, metadata)
    sql = reader.condition(0)
    reader.expect("end")
    return sql


def sql_of_document(expression: str) -> str:
    """The SQL of an expression over `doc`, a document of an index, as `when` of a writer takes it.

    Args:
        expression: In JEXL.

    Raises:
        ValueError: It does more than compare fields and compute; the message has the place.
    """
    if not expression.strip():
        raise ValueError("the expression is empty")
    return sql_of(expression, {_DOCUMENT: ""})


def _field_column(name: str) -> str:
    """The SQL of the first value of a field of a document."""
    own = _FIELD_NAMES.get(name, name)
    if own in _LISTS:
        return f"{own}[1]"
    return own if own in FIELDS else f"more[{_quoted(name)}][1]"


def _tokens(expression: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    text = expression.rstrip().removesuffix(";")
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at:].strip()[:20]!r} is not translated")
        kind = str(match.lastgroup)
        word = match[kind]
        if kind == "name" and word in _WORDS:
            kind, word = "sign", _WORDS[word]
        tokens.append(_Token(kind, word))
        at = match.end()
    return tokens


class _Reader:
    """Reads an expression by its precedences: condition, or, and, comparison, sum, product."""

    def __init__(self, tokens: list[_Token], columns: Mapping[str, str], metadata: str) -> None:
        self._tokens = tokens
        self._at = 0
        self._columns = columns
        self._metadata = metadata

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _take(self, *signs: str) -> str:
        """The next sign, if it is one of these; else "" and nothing is taken."""
        token = self._next
        if token.kind != "sign" or token.text not in signs:
            return ""
        self._at += 1
        return token.text

    def expect(self, kind: str) -> None:
        """Take a sign, or find the end.

        Raises:
            ValueError: Something else is there.
        """
        if (kind == "end" and self._next is _END) or self._take(kind):
            return
        raise ValueError(f"{self._next.text[:20]!r} is not translated")

    def condition(self, depth: int) -> str:
        """`a ? b : c`, or an operation of higher precedence."""
        if depth > _DEEPEST:
            raise ValueError("the expression is nested too deeply")
        test = self._chain(("||",), " or ", self._all, depth)
        if not self._take("?"):
            return test
        yes = self.condition(depth + 1)
        self.expect(":")
        return f"case when {test} then {yes} else {self.condition(depth + 1)} end"

    def _all(self, depth: int) -> str:
        return self._chain(("&&",), " and ", self._comparison, depth)

    def _chain(self, signs: tuple[str, ...], word: str, inner: "_Part", depth: int) -> str:
        parts = [inner(depth)]
        while self._take(*signs):
            parts.append(inner(depth))
        return parts[0] if len(parts) == 1 else f"({word.join(parts)})"

    def _comparison(self, depth: int) -> str:
        left = self._sum(depth)
        sign = self._take(*_COMPARE, *_MATCHES)
        if not sign:
            return left
        right = self._sum(depth)
        if sign in _MATCHES:
            return f"({_MATCHES[sign].format(left, right)})"
        if "null" in (left, right) and sign in ("==", "!="):
            operand = right if left == "null" else left
            return f"({operand} is {'not ' if sign == '!=' else ''}null)"
        return f"({left} {_COMPARE[sign]} {right})"

    def _sum(self, depth: int) -> str:
        return self._operations(("+", "-"), self._product, depth)

    def _product(self, depth: int) -> str:
        return self._operations(("*", "/", "%"), self._unary, depth)

    def _operations(self, signs: tuple[str, ...], inner: "_Part", depth: int) -> str:
        sql = inner(depth)
        while sign := self._take(*signs):
            sql = f"({sql} {sign} {inner(depth)})"
        return sql

    def _unary(self, depth: int) -> str:
        if depth > _DEEPEST:
            raise ValueError("the expression is nested too deeply")
        if self._take("!"):
            return f"(not {self._unary(depth + 1)})"
        if self._take("-"):
            return f"(- {self._unary(depth + 1)})"
        if self._take("("):
            inside = self.condition(depth + 1)
            self.expect(")")
            return inside
        return self._value()

    def _value(self) -> str:
        token = self._next
        self._at += 1
        if token.kind == "number":
            return token.text
        if token.kind == "text":
            return _quoted(_ESCAPE.sub(r"\1", token.text[1:-1]))
        if token.kind == "field" and _DOCUMENT in self._columns:
            return self._methods(_field_column(_text_in(token.text)))
        if token.kind == "name" and self._next.text != "(":
            return self._column(token.text)
        raise ValueError(f"{token.text[:20]!r} is not translated")

    def _methods(self, value: str) -> str:
        """What the methods make of a text that follow it."""
        while self._next.kind == "method":
            name = self._next.text.lstrip(".").strip().partition("(")[0]
            value = _METHODS[name].format(value, _quoted(_text_in(self._next.text)))
            self._at += 1
        return value

    def _column(self, name: str) -> str:
        column = _LITERALS.get(name) or self._columns.get(name)
        if column is not None:
            return column
        if not self._metadata or name in {"if", "for", "while", "var", "return", "new"}:
            raise ValueError(f"{name[:40]!r} is no variable that is known")
        return f"{self._metadata}[{_quoted(name)}]"


_Part = Callable[[int], str]


def _text_in(call: str) -> str:
    """The text between the brackets of a call."""
    inside = call.partition("(")[2].rstrip().removesuffix(")").strip()
    return _ESCAPE.sub(r"\1", inside[1:-1])


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
