"""A Scrapy spider that follows all links, embeds too, within some hosts. Runs in .venv-bench."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor

TAGS = ("a", "area", "link", "img", "script", "iframe", "frame", "source", "embed", "object")


class EverythingSpider(scrapy.Spider):  # type: ignore[misc]  # Scrapy is in another environment
    """Follows everything; writes Scrapy's statistics at the end."""

    name = "everything"
    custom_settings = {  # noqa: RUF012 - as Scrapy wants it
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
        "URLLENGTH_LIMIT": 0,
    }

    def __init__(self, home: str, hosts: str, stats: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [home]
        self._hosts = frozenset(hosts.split(","))
        self._stats = Path(stats)
        self._links = LinkExtractor(
            tags=TAGS, attrs=("href", "src", "data"), deny_extensions=(), unique=True
        )

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        """Follow the links of a page."""
        if response.status >= 400 or not isinstance(response, TextResponse):
            return
        for link in self._links.extract_links(response):
            if urlsplit(link.url).hostname in self._hosts:
                yield scrapy.Request(link.url)

    def closed(self, reason: str) -> None:
        """Write the statistics."""
        self._stats.write_text(json.dumps(self.crawler.stats.get_stats(), default=str))
