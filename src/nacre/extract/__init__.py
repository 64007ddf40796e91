"""Extracts outlinks, text and directives from captures. Pure; bounded in time; never raises.

`dispatch.py` gives a document to the one extractor that claims it (`kind.py`), out of the registry
of all (`extractors.py`): `html/`, `css.py`, `script.py`, `feed.py`, `sitemap.py`, `xml_links.py`.
Chains call `binary.py`, and the functions of `text.py` for parts of documents. `links.py` collects
their links as `Outlink`s: resolved, each once, ranked. Guesses from scripts pass `likely.py` and
`speculative.py`. `pageview.py` splits a page for the comparison of versions. `repeating.py` learns
which requests of scripts follow from a page (`page_values.py`, `request_template.py`).
"""
