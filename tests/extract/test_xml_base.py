"""`xml:base` of elements within each other."""

from nacre.extract.xml_base import DEEPEST, BaseStack, base_of, resolve_bases
from nacre.extract.xml_scan import XmlStart


def test_a_base_is_that_of_any_prefix():
    assert base_of(XmlStart("a", " xml:base='x/'", "")) == "x/"
    assert base_of(XmlStart("a", " href='base'", "")) == ""


def test_bases_that_are_no_urls_change_nothing():
    bases = ("//[", "", "javascript:x", "c/")
    assert resolve_bases(bases, "http://a.test/blog/feed") == "http://a.test/blog/c/"


def test_bases_end_with_their_elements():
    stack, seen = BaseStack(), []
    for name, base in (("div", "a/"), ("div", ""), ("p", "b/")):
        stack.start(name, base)
    for name in ("other", "p", "div", "div"):
        seen.append((stack.bases, stack.ends(name)))
        stack.end(name)
    both, outer = ("a/", "b/"), ("a/",)
    assert seen == [(both, False), (both, True), (outer, False), (outer, True)]
    assert stack.bases == ()


def test_elements_that_lie_too_deep_change_nothing():
    stack = BaseStack()
    for _ in range(DEEPEST + 5):
        stack.start("p", "a/")
    assert len(stack.bases) == DEEPEST
    for _ in range(DEEPEST + 5):
        stack.end("p")
    assert stack.bases == ()
    stack.start("p", "a/")
    stack.cut(0)
    assert not stack.ends("p")
