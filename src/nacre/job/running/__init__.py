"""The engine, and what looks after it: limits, space, file handles, the event loop."""
