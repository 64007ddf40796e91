"""Java's regular expressions in the syntax that RE2 and `regex` share. Pure."""
