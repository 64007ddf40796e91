"""Parsers of bytes from servers, as tolerant as browsers, and bounded. Pure.

`http1.py` parses the bytes of a connection, without a socket; `head.py` and `chunks.py` are its
parts. `coding.py` and `codec.py` take content codings off under caps, `charset.py` finds the
encoding of a document, `date.py` and `xml.py` read dates and XML files of configurations;
`structured_fields.py` has the newer header fields, and is as strict as their standard. The
verbatim record is never changed: all of this are views of it.
"""
