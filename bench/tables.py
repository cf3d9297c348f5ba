"""Tables on the screen, line by line as the figures come."""

from __future__ import annotations

NAME = 30
FIGURE = 8
SPREAD = 24


class Table:
    """The first column is wide; one that is measured (in ms) has room for its spread."""

    def __init__(self, heads: tuple[str, ...]) -> None:
        self._widths = [NAME] + [SPREAD if "ms" in head else FIGURE for head in heads[1:]]
        self.row(*heads)

    def row(self, *cells: object) -> None:
        first, *others = (str(cell) for cell in cells)
        _, *widths = self._widths
        texts = [text.rjust(width) for text, width in zip(others, widths, strict=False)]
        print(first.ljust(NAME) + "".join(texts), flush=True)
