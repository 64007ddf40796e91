"""An ordinary page: sixteen requests of usual kinds and sizes, some 300 KB together."""

import random
import struct
import zlib
from pathlib import Path

REQUESTS = 16
_PICTURES = 7
_SCRIPT = """
const list{number} = [];
function add{number}(value) {{
  list{number}.push({{ value, text: `entry ${{value}}` }});
  return list{number}.filter((entry) => entry.value % 2 === 0).length;
}}
for (let index = 0; index < 500; index += 1) add{number}(index);
"""
_FILL = """
for (const name of ["news", "offers"]) {
  fetch(`${name}.json`).then((reply) => reply.json()).then((entries) => {
    const list = document.getElementById(name);
    for (const entry of entries) {
      const item = document.createElement("li");
      item.textContent = `${entry.title}: ${entry.text}`;
      list.append(item);
    }
  });
}
"""


def write_page(folder: Path) -> None:
    """Write the page and what it requests: 2 style sheets, 4 scripts, 7 pictures, 2 JSON files."""
    chance = random.Random(7)
    for number in range(2):
        rules = "\n".join(
            f".c{number}-{rule} {{ color: #{chance.randbytes(3).hex()}; margin: {rule % 9}px; }}"
            for rule in range(300)
        )
        (folder / f"style{number}.css").write_text(rules, "utf-8")
    for number in range(4):
        parts = "\n".join(_SCRIPT.format(number=f"{number}_{part}") for part in range(40))
        text = parts + (_FILL if number == 3 else "")
        (folder / f"script{number}.js").write_text(text, "utf-8")
    for number in range(_PICTURES):
        (folder / f"picture{number}.png").write_bytes(_picture(chance, 60 + 10 * number))
    for name in ("news", "offers"):
        entries = ",".join(
            f'{{"title": "{name} {n}", "text": "{"一二三 " * 5}"}}' for n in range(30)
        )
        (folder / f"{name}.json").write_text(f"[{entries}]", "utf-8")
    (folder / "index.html").write_text(_document(), "utf-8")


def _document() -> str:
    styles = "".join(f'<link rel=stylesheet href="style{n}.css">' for n in range(2))
    scripts = "".join(f'<script src="script{n}.js"></script>' for n in range(4))
    pictures = "".join(
        f'<p class="c0-{n}"><img src="picture{n}.png" width=200 height=150>{"Some text. " * 60}'
        for n in range(_PICTURES)
    )
    links = "".join(f'<li class="c1-{n}"><a href="page{n}.html">Page {n}</a>' for n in range(40))
    return (
        f"<!DOCTYPE html><meta charset=utf-8><title>Ordinary</title>{styles}<h1>Ordinary</h1>"
        f"<ul>{links}</ul>{pictures}<ul id=news></ul><ul id=offers></ul>{scripts}"
    )


def _picture(chance: random.Random, side: int) -> bytes:
    """Return a square PNG of noise, which takes three bytes a pixel."""
    rows = b"".join(b"\0" + chance.randbytes(3 * side) for _ in range(side))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
