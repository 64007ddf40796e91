"""The table that the paper published, in its own figures.

Source: 季士妍 (Ji), 赵丹阳 (Zhao), 国家图书馆WEB数据增量采集设计及其实现 (incremental crawling at
the National Library of China), 数字图书馆论坛 2021(1), 32-37.
"""

from typing import NamedTuple


class Published(NamedTuple):
    """One row of the paper: megabytes, hours, HTML pages."""

    run: str
    megabytes: float
    hours: float
    html: float


class PublishedSite(NamedTuple):
    """One site of the paper: its name and three crawls."""

    name: str
    first: Published
    second: Published
    incremental: Published


PUBLISHED = {
    "gov-twin": PublishedSite(
        "www.gov.cn, depth 3",
        Published("full 1", 6144, 47, 7436),
        Published("full 2", 7356, 60, 8082),
        Published("incremental", 455, 8, 1820),
    ),
    "mct-twin": PublishedSite(
        "www.mct.gov.cn, depth 2",
        Published("full 1", 514, 14, 1971),
        Published("full 2", 638, 25, 2488),
        Published("incremental", 53.5, 4, 194),
    ),
}
"""By the world that is built after the site."""


def saved(spent: float, whole: float) -> float:
    """Share saved."""
    return 1.0 - spent / whole
