"""Markup as it is before its text is taken."""

import pytest

from nacre.extract.fulltext.markup import MARK, ReadableMarkup, readable


@pytest.mark.parametrize(
    ("markup", "settled"),
    [
        ("<p>中华\n古籍", "<p>中华古籍"),
        ("<p>敦煌\r\n\r\n   遗书", "<p>敦煌遗书"),
        ("敦\r煌", "敦煌"),
        ("中<b>国</b> \n <i>家</i>", "中国家"),
        ("中\n<em>\n国</em> 人", "中国 人"),
        ("中<!-- a > b -->\n国", "中<!-- a > b -->国"),
        ("中\n国\n人", "中国人"),
        ("<p>中国</p>\n<p>国", "<p>中国</p>\n<p>国"),
        ("中<br>\n国", "中<br>\n国"),
        ("中\nabc\n国", "中\nabc\n国"),
        ("서\n울", "서\n울"),
        ("<pre>中\n国\n\n家</pre>", "<pre>中国\n\n家</pre>"),
        ("&#20013;\n&#x56fd;&#60;", "中国&#60;"),
        ("&#xd800;&#xffffff;&#1114112;", "&#xd800;&#xffffff;&#1114112;"),
        ("<label>a</LABEL>", "a"),
        ("a<summary>bb</summary>c", "a <summary> bb </summary> c"),
        ("a<TABLE>b", "a <TABLE> b"),
        ("a<img alt='b c'>d", "a <img alt='b c'> d"),
        ("中<img src=x alt=字>国", "中<img src=x alt=字>国"),
        ("plain\ntext", "plain\ntext"),
        ("<p><span title='a > b'>善</span>本<FONT size=2>书</FONT>", "<p>善本书"),
        ("<p><b title='a>善</b>", "<p><b title='a>善"),
        ("<b-x>善本</b-x><article>a b</article>", "<b-x>善本</b-x><article>a b</article>"),
        ("这<a href='/x'>特</a>藏<a href=/y>阅览室</a>", "这特藏<a href=/y>阅览室</a>"),
        ("<h1>甲</h1><p>乙 </p>", f"<h1>甲{MARK}</h1><p>乙 </p>"),
    ],
)
def test_markup_is_settled(markup, settled):
    assert readable(markup) == ReadableMarkup(settled)


@pytest.mark.parametrize(
    ("markup", "base", "readings"),
    [
        (
            "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>\n字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>を",
            "<ruby>漢字</ruby>を",
            ("かんじ",),
        ),
        ("<ruby>漢字<rt>かん<b>じ</b></ruby>x", "<ruby>漢字</ruby>x", ("かんじ",)),
        ("<RUBY><RB>漢</RB><RT>k</RT></RUBY>", f"<RUBY><RB>漢{MARK}</RB></RUBY>", ("k",)),
        ("<ruby>漢<rtc><rt>a</rt></rtc></ruby>", f"<ruby>漢{MARK}</ruby>", ("a",)),
        ("<rt>no ruby</rt>", "<rt>no ruby</rt>", ()),
    ],
)
def test_ruby_has_its_base(markup, base, readings):
    assert readable(markup) == ReadableMarkup(base, readings)


@pytest.mark.parametrize(
    "part", ["<ruby><rt>", "中\n<b>", "<!--中\n", "<table <table ", "<img alt="]
)
def test_hostile_markup_takes_linear_time(part):
    assert readable(part * 20_000).markup


def test_a_picture_with_many_texts_takes_linear_time():
    picture = "<img alt='" + "alt=" * 100_000
    assert readable(picture).markup == picture
    assert readable("<p>a<img title=x alt='bc'>d").markup == "<p>a <img title=x alt='bc'> d"
