"""Capture to outlinks, and to what a page says. Pure; bounded in time; never raises.

`dispatch.py` gives a document to the one extractor that claims it (`kind.py`), out of the registry
of all (`extractors.py`): `html/`, `css.py`, `script.py`, `feed.py`, `sitemap.py`, `xml_links.py`.
`binary.py` and what else of `text.py` is not a document of its own are asked by chains. `links.py`
collects what they find as `Outlink`s: resolved, each once, ranked. Guesses from scripts pass
`likely.py` and `speculative.py`. `pageview.py` takes a page apart for the comparison of versions.
"""
