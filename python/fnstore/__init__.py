"""An embedded FrameNet database: query, grow and edit frame-semantic annotation.

>>> import fnstore
>>> db = fnstore.create("store")                    # doctest: +SKIP
>>> db.import_release("fndata-1.5.zip")             # doctest: +SKIP
>>> for set in db.query("frame=Verification"):      # doctest: +SKIP
...     print(set)
"""

import copyreg as _copyreg
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import NoReturn as _NoReturn

from . import _augment, _corpora, _errors, _fetching, _fnstore, _texts
from ._augment import *
from ._corpora import *
from ._edits import Transaction
from ._errors import *
from ._fetching import *
from ._fnstore import *
from ._texts import *

__all__ = ["Transaction"]
__all__ += _augment.__all__
__all__ += _corpora.__all__
__all__ += _errors.__all__
__all__ += _fetching.__all__
__all__ += _fnstore.__all__
__all__ += _texts.__all__


__version__: str

if not _TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        """Reads the version when it is asked for: what knows it takes longer to import than all of fnstore."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("fnstore")
        except PackageNotFoundError as error:
            raise AttributeError("fnstore is not installed, so its version is not known") from error


def _no_pickle(of: object) -> _NoReturn:
    message = f"cannot pickle a {type(of).__name__}: it belongs to an open store of this process"
    advice = "pass the store's path and ids, and open it again where they arrive; or pass a table, as of to_polars()"
    raise PickleError(message, "P-handle", advice)


for _name in _fnstore.__all__:
    _kind: object = getattr(_fnstore, _name)
    if isinstance(_kind, type):
        _copyreg.pickle(_kind, _no_pickle)
