"""Figures of crawls, as the paper's table has them."""

from nacre_simweb.paper.figures import CrawlFigures


def figures(name, stored, hours, html, requests, embeds):
    return CrawlFigures(name, stored * 1e6, 0.0, hours, html, requests, embeds)
