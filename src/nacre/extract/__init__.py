"""Capture to outlinks, and to what a page says. Pure; bounded in time; never raises.

`dispatch.py` gives a document to the one extractor that claims it (`kind.py`): `html.py`, `css.py`,
`script.py`, `feed.py`, `sitemap.py`, `xml_links.py`, `json_links.py`; the others are asked by
chains. `links.py` collects what they find as `Outlink`s: resolved, each once, ranked. The walk over
HTML is `html_walk.py` over `html_page.py`, the seam to the parser. Guesses from scripts pass
`likely.py` and `speculative.py`. `pageview.py` takes a page apart for `history.verdict.change`.
"""
