"""Replay of captures: choose a capture, read it, rewrite its page, compare two. Without HTTP."""
