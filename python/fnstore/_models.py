"""Where models lie: the places in which the program looks, and the package of ``pip install ./python/models``."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path


def _cache() -> Path:
    return Path(os.environ.get("FNSTORE_CACHE") or Path.home() / ".cache" / "fnstore")


def cache() -> Path:
    """Where models lie that were fetched."""
    return _cache() / "models"


def answers() -> Path:
    """Where answers of servers are kept."""
    return _cache() / "answers"


def packaged() -> list[Path]:
    """The directories of the package ``fnstore-models``, where it is installed."""
    package = importlib.util.find_spec("fnstore_models")
    return [Path(place) for place in (package and package.submodule_search_locations) or ()]


def directories() -> list[Path]:
    """Directories that may hold models, the first first."""
    home = Path.home()
    places: list[Path] = []
    listed = [Path(one) for one in os.environ.get("FNSTORE_MODELS", "").split(os.pathsep) if one]
    for absent in (one for one in listed if not one.is_dir()):
        warnings.warn(f"FNSTORE_MODELS names {absent}, which is no directory", stacklevel=3)
    places += listed
    places += packaged()
    data = os.environ.get("XDG_DATA_HOME") or home / ".local" / "share"
    places.append(Path(data) / "fnstore" / "models")
    places.append(cache())
    return list(dict.fromkeys(places))
