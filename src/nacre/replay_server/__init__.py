"""The server that shows captures in a browser, on its own origin, beside the console."""
