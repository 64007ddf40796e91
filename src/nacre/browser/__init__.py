"""The browser: its process, the proxy that is its only way out, and the pages that it opens.

A sibling of `fetch`, which it does not know: requests go to a `core.rendered.RequestHandler`.
"""
