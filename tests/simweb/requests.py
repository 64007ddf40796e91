"""Requests to the server of a world."""

from nacre_simweb.answer import read_heading


def asked(host, path, more=""):
    heading = read_heading(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())
    assert heading is not None
    return heading


def row_of(answers, heading):
    row = answers.answer(heading).row
    assert row is not None
    return row
