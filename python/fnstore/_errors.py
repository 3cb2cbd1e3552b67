"""Errors: one base class, a subclass for each thing that can go wrong, each with a code and an advice."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AbsentError",
    "AmbiguousNameError",
    "ClosedError",
    "ConflictError",
    "EditError",
    "Error",
    "ExistsError",
    "ExpandError",
    "ImportFailedError",
    "LockedError",
    "ModelError",
    "ModelMissingError",
    "NumberError",
    "PickleError",
    "QueryError",
    "ReplacedError",
    "StoreError",
    "TextError",
    "UnknownNameError",
]


class Error(Exception):
    """What every error of fnstore is.

    ``code`` says what happened, as in ``S-absent``; ``advice`` what to do about it; ``nearest`` is the name that was
    probably meant, where a name is unknown.
    """

    code: str
    advice: str
    nearest: str | None

    def __init__(self, message: str, code: str, advice: str, nearest: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.advice = advice
        self.nearest = nearest
        if advice and advice not in message:
            self.add_note(f"[{code}] {advice}")


class StoreError(Error):
    """The store cannot be opened, read or written."""


class AbsentError(StoreError, FileNotFoundError):
    """There is no store at the path."""


class ExistsError(StoreError, FileExistsError):
    """There is a store at the path already."""


class LockedError(StoreError, BlockingIOError):
    """Another process or handle writes the store."""


class ReplacedError(StoreError):
    """The store is not the one that was followed, as after a restore: read it anew."""


class ClosedError(StoreError, ValueError):
    """The handle was closed."""


class QueryError(Error, ValueError):
    """The query cannot be read; ``column`` is where, from 1."""

    column: int | None = None


class NumberError(Error, ValueError):
    """A number is negative or too large."""


class UnknownNameError(Error, LookupError):
    """Nothing in the store has the name."""


class AmbiguousNameError(Error, LookupError):
    """Several things have the name of which one was asked for; ``choices`` lists them."""

    choices: Sequence[str] = ()


class ImportFailedError(Error, ValueError):
    """A release or a file cannot be imported; the store is as it was."""


class EditError(Error, ValueError):
    """An edit cannot be made; the transaction is as it was before it."""


class ConflictError(EditError):
    """Another commit has changed what a transaction was built on; nothing was written."""


class ExpandError(Error):
    """An expansion cannot start or go on; what was committed stays."""


class ModelMissingError(ExpandError, FileNotFoundError):
    """A model is nowhere to be found."""


class PickleError(Error, TypeError):
    """A handle, and what reads through it, belongs to its process."""


class ModelError(Error):
    """A model cannot be opened, or fails."""


class TextError(Error, ValueError):
    """A model cannot work on a text: it is empty or too long, or what is asked of it does not fit it."""
