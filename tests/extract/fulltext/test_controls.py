"""What a reader sees of buttons, lists of choices and text fields."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.document import Document
from nacre.extract.fulltext.controls import PageControls, with_labels
from nacre.extract.fulltext.job import TextJob
from nacre.extract.fulltext.page_text import page_text


@pytest.mark.parametrize(
    ("markup", "text", "options"),
    [
        ("a <button class=x>借<b>书</b></button> b", "a   借<b>书</b>   b", ()),
        ("<BUTTON>Go</BUTTON>", "  Go  ", ()),
        ("<button hidden>Go</button>", "<button hidden>Go  ", ()),
        ("<input type=submit value='Order &amp; pay'>", " Order &amp; pay ", ()),
        ('<input value=Go type="button"/>', " Go ", ()),
        ("<input type=text value=x><input type=password value=y>", None, ()),
        ("<input type=submit>", "  ", ()),
        (
            "<select name=s><option value=1>Red<option selected>Blue &gt; x</select>!",
            " Blue &gt; x !",
            ("Red",),
        ),
        ("<select><optgroup label=g><option>文献</option><option>期刊</option></select>", " 文献 ",
         ("期刊",)),
        ("<select multiple><option>a</option><option>b</option></select>", " a  b ", ()),
        ("<select size=4><option>a<option>b</select>", " a  b ", ()),
        ("<select size=1><option>a<option>b</select>", " a ", ("b",)),
        ("<select><option></option><option>b</option></select>", " b ", ()),
        ("<select><option>a<input type=submit value=Go>", " a  Go ", ()),
        ("<select><option>a<p>the rest of the page", None, ()),
        ("<select></select>x", "x", ()),
        ("<script>'<select><option>'</script><p>x<select><option>a</select>",
         "<script>'<select><option>'</script><p>x a ", ()),
        ("<!-- <button> --><p>x", None, ()),
        ("<textarea rows=2>国\n图 &amp; <b>x</textarea>!", " 国\n图 &amp; &lt;b>x !", ()),
        ("<TEXTAREA>to the end", " to the end ", ()),
        ("<textarea hidden>x</textarea>", None, ()),
        ("<script>'<textarea>'</script><p>x", None, ()),
        ("<textarea><button>Go</button></textarea>", " &lt;button>Go&lt;/button> ", ()),
        ("<select><option>a<textarea>b</textarea>", " a  b ", ()),
        ("<datalist><option>a</datalist>", None, ()),
        ("<p>no control", None, ()),
    ],
)  # fmt: skip
def test_labels(markup: str, text: str | None, options: tuple[str, ...]):
    assert with_labels(markup) == PageControls(markup if text is None else text, options)


def test_options_are_bounded():
    markup = "<select>" + "".join(f"<option>{n}" for n in range(50_000)) + "</select>"
    found = with_labels(markup * 3)
    assert len(found.options) == 2_000


@pytest.mark.parametrize(
    "part",
    [
        "<select>",
        "<option>",
        "<script>",
        "<!--",
        "<button ",
        "<input type=submit value='",
        "<title>",
        "<textarea>",
        "<textarea ",
    ],
)
def test_hostile_markup_takes_linear_time(part: str):
    began = process_time()
    with_labels("<button>x" + part * 100_000)
    assert process_time() - began < 10


PARTS = (
    *("<textarea>", "</textarea>"),
    *("<select>", "<option>", "</option>", "</select>", "<button>", "文", "<", "<script>"),
    *("<input type=submit value=v>", "</script>"),
)


@given(st.lists(st.sampled_from(PARTS)))
def test_text_outside_lists_is_kept(parts: list[str]):
    markup = "".join(parts)
    outside = markup.partition("<select>")[0]
    assert with_labels(markup).markup.count("文") >= outside.count("文")


WORDS = "这是一个很长的段落，用来说明图书馆的历史和藏书情况，读者可以在这里了解更多的信息。" * 3


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("charset", ["gbk", "utf-8"])
def test_labels_and_chosen_options_are_text_of_a_page(charset: str, linear: bool):
    field = "<textarea>检<b>索</b></textarea>"
    form = f"<button>借<b>书</b></button>{field}<select><option>一馆<option selected>二馆</select>"
    page = f"<main><p>{WORDS}</p><p>在 {form} <input type=submit value=搜索></p>"
    body = f"<meta charset={charset}>{page}".encode(charset)
    found = page_text(
        TextJob(Document("http://a.test/", mime="text/html", body=body), linear=linear)
    )
    assert found.text.split()[-5:] == ["在", "借书", "检<b>索</b>", "二馆", "搜索"]
    assert found.rest.split()[-1] == "一馆"
