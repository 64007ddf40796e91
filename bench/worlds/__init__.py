"""Real web applications with places without end, on loopback, each with the list of its pages.

`world.py` says what a world is and serves it; the others are one world each.
"""
