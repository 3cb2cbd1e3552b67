"""How far a call is: ``progress=True`` shows it by tqdm, where that is installed, else in a line on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

#: Seconds between two lines.
_PAUSE = 0.2


class Bar:
    """What a call tells of itself, shown."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._shown, self._said = 0.0, ""
        try:
            self._tqdm: Any = import_module("tqdm.auto").tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, *told: Any) -> None:
        """Takes what a function of the caller's would be told."""
        done, of = _figures(told)
        if self._tqdm is not None:
            if self._bar is None:
                self._bar = self._tqdm(total=of)
            self._bar.total = of
            self._bar.update(done - self._bar.n)
            return
        self._said = f"{done:,}" if of is None else f"{done:,} of {of:,}"
        if (now := time.monotonic()) - self._shown >= _PAUSE:
            self._shown = now
            self._show("")

    def _show(self, end: str) -> None:
        print(f"\r{self._said}", end=end, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Shows the last that was told, and ends."""
        if self._bar is not None:
            self._bar.close()
        elif self._said:
            self._show("\n")


def _figures(told: tuple[Any, ...]) -> tuple[int, int | None]:
    """How many are done, and of how many, where that is known."""
    match told:
        case (int(done),):
            return done, None
        case (*_, int(done), int(of)):
            return done, of
        case (at,):
            return getattr(at, "seeds" if hasattr(at, "seeds") else "lus"), at.of
    raise TypeError(f"cannot show {told!r}")


def teller(progress: Callable[..., object] | bool | None) -> Callable[..., object] | None:
    """The function that is told how far a call is: the caller's, a bar for True, none for False."""
    if progress is True:
        return Bar()
    return progress or None
