"""Lists that a notebook shows as pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

__all__ = ["Drawn"]

_Row = TypeVar("_Row")


class Drawn(list[_Row]):
    """A list with pictures of it as SVG: ``svgs`` has them, to be written to files."""

    def __init__(self, rows: Iterable[_Row] = (), svgs: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.svgs = list(svgs)

    def _repr_svg_(self) -> str | None:
        """The only picture."""
        return self.svgs[0] if len(self.svgs) == 1 else None

    def _repr_html_(self) -> str | None:
        """All pictures, where there are several."""
        return f"<div>{'<br>'.join(self.svgs)}</div>" if len(self.svgs) > 1 else None
