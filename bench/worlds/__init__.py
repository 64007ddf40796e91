"""Real web applications with places without end, on loopback, each with the list of its pages.

`world.py` defines and serves a world; each other module is one world.
"""
