from nacre.report.document import (
    Column,
    Compared,
    Comparison,
    DataTable,
    Format,
    HeatMap,
    ReportDocument,
    Section,
)
from nacre.report.plain import plain_text


def shown(section: Section, most: int = 40) -> list[str]:
    return plain_text(ReportDocument("T", (section,)), most).splitlines()[3:]


def test_columns_are_aligned_also_with_chinese_text():
    columns = (Column("栏目"), Column("visits", Format.COUNT))
    table = DataTable("Sections", columns, (("新闻", 3), ("a", 1200)))
    assert shown(Section("", tables=(table,)))[-3:] == [
        "  栏目  visits",
        "  新闻       3",
        "  a      1,200",
    ]


def test_a_long_table_is_cut():
    table = DataTable("N", (Column("n", Format.COUNT),), tuple((n,) for n in range(9)))
    lines = shown(Section("", tables=(table,)), most=4)
    assert lines[-1] == "  … and 5 more (--html and --json have them)"


def test_facts_stand_below_each_other():
    assert shown(Section("Head", ("Say.",), (("a", "1"), ("long", "2")))) == [
        "Head",
        "----",
        "Say.",
        "  a     1",
        "  long  2",
    ]


def test_a_heat_map_in_shades():
    plot = HeatMap("Week", ("Mon",), ("00", "01", "02"), ((0.0, 1.0, 4.0),))
    assert shown(Section("", plots=(plot,)))[-2:] == ["       00 01 02", "  Mon      ░  █"]


def test_two_versions():
    pieces = (
        Compared("text", "was", "now"),
        Compared("nav", None, "menu", "on most pages"),
        Compared("link", "/a", None),
    )
    assert shown(Section("", comparison=Comparison("one", "two", pieces)))[-4:] == [
        "- [text] was",
        "+ [text] now",
        "~ [nav] menu   (on most pages)",
        "- [link] /a",
    ]
