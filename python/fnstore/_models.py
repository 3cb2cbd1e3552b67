"""Where models lie: the places in which the program looks, and the package of ``pip install ./python/models``."""

from __future__ import annotations

import importlib.util
import os
import warnings
from pathlib import Path


def directories() -> list[Path]:
    """Directories that may hold models, the first first."""
    home = Path.home()
    places: list[Path] = []
    listed = [Path(one) for one in os.environ.get("FNSTORE_MODELS", "").split(os.pathsep) if one]
    for absent in (one for one in listed if not one.is_dir()):
        warnings.warn(f"FNSTORE_MODELS names {absent}, which is no directory", stacklevel=3)
    places += listed
    if (package := importlib.util.find_spec("fnstore_models")) and package.submodule_search_locations:
        places += [Path(place) for place in package.submodule_search_locations]
    data = os.environ.get("XDG_DATA_HOME") or home / ".local" / "share"
    places.append(Path(data) / "fnstore" / "models")
    places.append(Path(os.environ.get("FNSTORE_CACHE") or home / ".cache" / "fnstore") / "models")
    return list(dict.fromkeys(places))
