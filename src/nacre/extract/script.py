r"""Scripts and JSON: string literals that are very likely URIs.

No parser of JavaScript, but a scan that knows its strings, comments, regular expressions and
template literals well enough not to lose its way in minified code. Quoted text inside a
string is tried too (`"<img src='a.png'>"`), and quotes that are escaped outside of any string
(`\u0027a.html\u0027`, `\"a.html\"`), as in scripts that were quoted once more than needed. Linear
on any input: a pattern that fails at some place is not tried again in the stretch that it failed
on. Source: Heritrix's ExtractorJS.

Of JSON the string literals are scanned too, without a parse: cut-off documents, JSONP, several
documents in one, comments and any depth of nesting make no difference. Keys are passed over.
Source: Heritrix's ExtractorJson (which misses arrays) and ExtractorJS.
"""

import re

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.likely import MAX_CANDIDATE, is_very_likely_uri, speculative_fixup
from nacre.extract.links import LinkCollector
from nacre.extract.text import absolute_urls, read_text

CONTEXT = "=JS_MISC"
IMPORT_CONTEXT = "=JS_IMPORT"
MAX_TEMPLATE_DEPTH = 64
"""Template literals within template literals that are followed."""

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_CODE = r"""
    (?: [^"'`/\\<%(braces)s]++
      | "[^"\\\n\r./%%]*+" | '[^'\\\n\r./%%]*+'
      | // [^\n\r]*+
      | /\* [^*]*+ (?: \*(?!/) [^*]*+ | (?!) )*+ (?: \*/ | \Z )
      | <!-- [^\n\r]*+ | <
      | (?!)
    )*+
    (?: " (?P<double> [^"\\\n\r]*+ (?: \\[\s\S] [^"\\\n\r]*+ | (?!) )*+ ) (?P<double_end>")?
      | ' (?P<single> [^'\\\n\r]*+ (?: \\[\s\S] [^'\\\n\r]*+ | (?!) )*+ ) (?P<single_end>')?
      | (?P<escaped> \\++ (?: ["'] | u002[27] | x2[27] ) )
      | (?P<other> [/`{}] | \\++ )
      | \Z
    )
"""
_OUTSIDE = re.compile(_CODE % {"braces": ""}, re.VERBOSE)
_INSIDE = re.compile(_CODE % {"braces": "{}"}, re.VERBOSE)
_TEMPLATE = re.compile(r"[^`\\$]*+(?:(?:\\[\s\S]|\$(?!\{))[^`\\$]*+|(?!))*+(`|\$\{|\\?\Z)")
_REGEX = re.compile(
    r"/[^/\\\[\n\r]*+"
    r"(?:(?:\\[^\n\r]|\[[^\]\\\n\r]*+(?:\\[^\n\r][^\]\\\n\r]*+|(?!))*+\]?)[^/\\\[\n\r]*+|(?!))*+(/[a-z]*+)?"
)
_BEFORE_REGEX = frozenset("=(,:;!&|?{[+-*%~^<>/\n\r")
_KEYWORD = re.compile(
    r"(?:return|typeof|case|in|of|delete|void|throw|new|do|else|instanceof|yield|await)\Z"
)
_ESCAPE = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(\r\n|[\s\S])|\Z)"
)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_SIMPLE |= dict.fromkeys(("\n", "\r", "\r\n", "\u2028", "\u2029"), "")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NESTED = re.compile(rf"""(["'])([^"'\s<>]{{3,{MAX_CANDIDATE}}}+)\1""")
_IMPORT = re.compile(
    rf"""\b(?:from|import)\s*+\(?\s*+(["'])((?:\.{{0,2}}/|https?://)[^"'\s\\<>]{{1,{MAX_CANDIDATE}}}+)\1"""
)


def script_urls(source: str) -> list[str]:
    """String literals that are very likely URIs, unescaped, in order, each once.

    Bare host names (`www.example.com`) come unchanged: give each to `speculative_fixup`, with
    the base, before it is resolved.
    """
    return _Scan(source).run()


def script_imports(source: str) -> list[str]:
    """Module specifiers that are URLs (`import "./a.js"`, `import("/b.js")`), in order, each once.

    They resolve against the script's own URL (ECMAScript modules in HTML, 8.1.6.2).
    """
    if "import" not in source and "from" not in source:
        return []
    return list(dict.fromkeys(match[2] for match in _IMPORT.finditer(source)))


def unescape_js(raw: str) -> str:
    r"""Resolve the escapes of a string literal; a lone surrogate becomes U+FFFD."""
    text = raw.replace("\\/", "/")
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_unescape, raw)
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    plain = match[4] or ""
    return _SIMPLE.get(plain, plain)


def likely_strings(text: str, strings: dict[str, None]) -> bool:
    """Add a string's text when it is very likely a URI, else the quoted texts inside it.

    Returns:
        True when the whole text is one.
    """
    if not _may_be_uri(text):
        return False
    whole = text.strip()
    if _is_candidate(whole):
        strings[whole] = None
        return True
    if '"' not in text and "'" not in text:
        return False
    for match in _NESTED.finditer(text):
        inner = match[2]
        if _may_be_uri(inner) and inner not in strings:
            inner = unescape_js(inner.rstrip("\\")) if "\\" in inner else inner
            if _is_candidate(inner):
                strings[inner] = None
    return False


def _may_be_uri(text: str) -> bool:
    return "." in text or "/" in text or "%" in text


def _is_candidate(text: str) -> bool:
    return len(text) <= MAX_CANDIDATE and is_very_likely_uri(speculative_fixup(text, ""))


class _Scan:
    """One pass over a script. Positions only grow, so the work is linear."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: dict[str, None] = {}
        self._raw: set[str] = set()
        self._depths: list[int] = []  # open braces of each `${`, innermost last
        self._hopeless: dict[str, int] = {}  # delimiter: no end of it before this position

    def run(self) -> list[str]:
        """Return all candidates."""
        position, end = 0, len(self._source)
        while position < end:
            code = _INSIDE if self._depths else _OUTSIDE
            token = code.match(self._source, position)
            if token is None:  # cannot be: the pattern matches everywhere
                break
            position = self._step(token)
        return list(self._found)

    def _step(self, token: re.Match[str]) -> int:
        """Handle a token; the position where the scan goes on."""
        kind = token.lastgroup
        if kind in {"double_end", "single_end"}:
            self._consider(token[kind[:6]])
        elif kind in {"double", "single"}:  # an apostrophe that starts no string: continue after it
            return token.start(kind)
        elif kind == "escaped":
            return self._skip_escaped(token.end(), token["escaped"])
        elif kind == "other":
            return self._skip_sign(token.end(), token["other"])
        return token.end()

    def _skip_sign(self, end: int, sign: str) -> int:
        if sign == "`":
            return self._template(end)
        if sign == "/":
            return self._slash(end - 1)
        return self._brace(end, sign) if self._depths else end

    def _consider(self, raw: str) -> None:
        if raw in self._raw:
            return
        if len(raw) <= MAX_CANDIDATE:
            self._raw.add(raw)
        likely_strings(unescape_js(raw) if "\\" in raw else raw, self._found)

    def _skip_escaped(self, start: int, delimiter: str) -> int:
        """Text between two escaped quotes of the same kind, close together."""
        if self._hopeless.get(delimiter, 0) > start:
            return start
        limit = start + MAX_CANDIDATE
        end = self._source.find(delimiter, start, limit)
        if end < 0:
            self._hopeless[delimiter] = limit - len(delimiter)
            return start
        self._consider(self._source[start:end])
        return end + len(delimiter)

    def _template(self, start: int) -> int:
        """Scan a template literal from after its opening quote, or from after a `}` in it."""
        chunk = _TEMPLATE.match(self._source, start)
        if chunk is None:  # cannot be: the pattern matches everywhere
            return len(self._source)
        whole = self._source[start - 1] == "`" and chunk[1] == "`"
        if whole:
            self._consider(self._source[start : chunk.end() - 1])
        elif chunk[1] == "${" and len(self._depths) < MAX_TEMPLATE_DEPTH:
            self._depths.append(0)
        return chunk.end()

    def _brace(self, end: int, brace: str) -> int:
        if brace == "{":
            self._depths[-1] += 1
        elif brace == "}" and self._depths[-1]:
            self._depths[-1] -= 1
        elif brace == "}":
            self._depths.pop()
            return self._template(end)
        return end

    def _slash(self, start: int) -> int:
        """Return the end of a regular expression, or of the sign of a division."""
        if self._hopeless.get("/", 0) > start or not self._may_be_regex(start):
            return start + 1
        regex = _REGEX.match(self._source, start)
        if regex and regex[1]:
            return regex.end()
        self._hopeless["/"] = regex.end() if regex else 0
        return start + 1

    def _may_be_regex(self, start: int) -> bool:
        """A slash starts a regular expression where a value is due."""
        before = self._source[max(0, start - 40) : start].rstrip(" \t")
        return not before or before[-1] in _BEFORE_REGEX or bool(_KEYWORD.search(before[-10:]))


def extract_script(document: Document, links: LinkCollector) -> None:
    """Add the likely URIs of a script: hop X, resolved against the page that uses the script.

    Module imports are embeds (hop E) and resolve against the script itself.
    """
    source = read_text(document)
    imports = script_imports(source)
    for url in imports:
        links.add(url, Hop.EMBED, IMPORT_CONTEXT)
    base = links.base
    if document.via.startswith(("http://", "https://")):
        links.rebase(document.via)
    imported = set(imports)
    for url in script_urls(source):
        if url not in imported:
            links.add(speculative_fixup(url, links.base), Hop.SPECULATIVE, CONTEXT)
    links.rebase(base)


JSON_CONTEXT = "=JSON_MISC"

# Possessive groups end in `(?!)` for Python before 3.11.5: tests/contract/test_patterns.py
_STRING = re.compile(r'"([^"\\]*+(?:\\[\s\S][^"\\]*+|(?!))*+)(?:"(\s*+:)?)?')
_MAX_TEXT = 1_000_000
"""Characters of the longest string that is searched for URLs within."""


def json_urls(text: str) -> list[str]:
    """Strings that are very likely URIs, and absolute URLs within longer strings; each once.

    For JSON, JSON-LD, import maps, web app manifests and speculation rules. Give bare host names to
    `speculative_fixup` before they are resolved.
    """
    urls: dict[str, None] = {}
    for raw, is_key in _STRING.findall(text):
        if is_key or ("/" not in raw and "." not in raw) or len(raw) > _MAX_TEXT:
            continue
        value = unescape_js(raw) if "\\" in raw else raw
        if not likely_strings(value, urls) and "://" in value:
            urls.update(dict.fromkeys(absolute_urls(value)))
    return list(urls)
