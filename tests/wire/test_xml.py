import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.wire.xml import MAX_DEPTH, read_xml

DOCUMENT = b"""<?xml version="1.0"?>
<?xml-stylesheet type="text/xsl" href="x.xsl"?>
<!-- nothing -->
<configuration>
  <property>
    <name>a.b</name>
    <value> 1 &lt; <!-- x -->2 </value>
  </property>
  <b:x xmlns:b="http://b/" b:y="1" z="2"/>
</configuration>
"""


def test_elements_with_their_lines():
    root = read_xml(DOCUMENT, "f.xml")
    assert (root.tag, root.line) == ("configuration", 4)
    found = next(root.find_all("property"))
    assert (found.line, found.text_of("name"), found.text_of("value")) == (5, "a.b", " 1 < 2 ")
    assert found.text_of("nothing") is None
    assert [element.tag for element in root.walk()] == [
        "configuration", "property", "name", "value", "x",
    ]  # fmt: skip


def test_namespaces_are_kept_apart():
    other = read_xml(DOCUMENT, "f.xml").find("x")
    assert other is not None
    assert (other.namespace, other.attributes) == ("http://b/", {"{http://b/}y": "1", "z": "2"})


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"<a>\n<b></a>", 2, "mismatched tag"),
        (b"", 1, "no element found"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]>\n<a>&x;</a>', 1, "DOCTYPE"),
        (b'\n<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 2, "DOCTYPE"),
        (b"<a>\n&x;</a>", 2, "undefined entity"),
        (b"<a>" * (MAX_DEPTH + 1), 1, "inside each other"),
        (b'<?xml version="1.0" encoding="x-none"?><a/>', 1, "encoding"),
        (b"<a>\xff\xfe</a>", 1, "not well-formed"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_line(data, line, words):
    with pytest.raises(ConfigError) as caught:
        read_xml(data, "f.xml")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("f.xml", line)
    assert words in problem.message


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: f"<a>{text}".encode()))
def test_anything_is_a_tree_or_an_error(data):
    try:
        found = [element.line for element in read_xml(data, "f").walk()]
    except ConfigError as error:
        found = [problem.line for problem in error.problems]
    assert found == sorted(found)
    assert found[0] >= 1


def test_lines_of_a_text_around_comments_and_long_tags():
    root = read_xml(b"<a\n b='c'>one\ntwo<!-- x\ny -->\nthree\n<d/>four</a>", "f")
    assert root.text == "one\ntwo\nthree\nfour"
    assert [root.line_of(number) for number in range(4)] == [2, 3, 5, 6]
    assert root.children[0].line_of(0) == 6
