"""The parts of a page, which `change_detection.change` compares between two versions."""

import msgspec


class Piece(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One piece of a page: a block of text, a link, a picture, an attachment.

    Attributes:
        kind: `text`, `heading`, `title`, `date`, `link`, `image` or `file`; `nav` and `nav-link`
            for a block that is little but links (lists, menus, "next page"); `advert` for whatever
            is within an element that is marked as one.
        place: Hash of the path of block elements around it, positions left out: pieces of one list
            share it, and so do the pages of one template.
        text: The text, spaces collapsed, NFKC; or the address of a link, picture or file without
            session IDs and cache busters.
        is_line: A line break, no block, separates it from the text before.
    """

    kind: str
    place: int
    text: str
    is_line: bool = False


class PieceEdit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Pieces of one version of a page in the place of some of another.

    Attributes:
        start: Number of the first piece that is replaced, from 0.
        end: Number of the piece behind the last; equal to `start` where pieces only come.
        pieces: What is there instead.
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]


class Shape(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Measures that distinguish a list of links from a text. A Chinese character counts as three.

    Attributes:
        text: Length of all text.
        anchors: Length of the text inside links.
        links: Links with text.
        group: Links in the largest group at one place.
        group_length: Median length of their texts.
        longest: Longest block of text outside links.
        dated: Blocks that are or end with a date, as lists show it beside each link.
    """

    text: int = 0
    anchors: int = 0
    links: int = 0
    group: int = 0
    group_length: int = 0
    longest: int = 0
    dated: int = 0


class PageView(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page as pieces in document order.

    Attributes:
        pieces: Its text in pieces.
        paper: Digest of the text in `p`, `span` and beside `br`: the National Library of China's
            test.
        text: All text in document order, for whole-text signatures.
        truncated: Not all of it was read.
        shape: Measures that distinguish an index page from a content page.
    """

    pieces: tuple[Piece, ...] = ()
    paper: bytes = b""
    text: str = ""
    truncated: bool = False
    shape: Shape = Shape()
