"""maturin, with the cache that `make` compiles into: `pip install ./python` compiles RocksDB no second time."""

import os
from pathlib import Path

from maturin import *  # noqa: F403

_cache = Path(os.environ.get("FNSTORE_CACHE") or Path.home() / ".cache" / "fnstore")
os.environ.setdefault("CARGO_TARGET_DIR", str(_cache / "target"))
