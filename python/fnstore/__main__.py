"""The program: ``python -m fnstore`` takes what ``fnstore`` takes."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from typing import NoReturn

from . import _models
from ._fnstore import _program  # pyright: ignore[reportPrivateUsage]


def main() -> NoReturn:
    """Runs the program on the words of the command line, in the place of this process."""
    # Python's own handler would wait for the program's end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    listed = [os.environ.get("FNSTORE_MODELS", ""), *map(str, _models.packaged())]
    if places := os.pathsep.join(filter(None, listed)):
        os.environ["FNSTORE_MODELS"] = places
    _program(["fnstore", *sys.argv[1:]])
    # It was not built in: the one of this machine serves.
    program = os.environ.get("FNSTORE_PROGRAM") or shutil.which("fnstore")
    if program is None:
        sys.exit(
            "error: this build of the package has no command line, and there is no `fnstore` on PATH\n\n"
            "hint: install the program (`make install`), or the package from its sources (`pip install ./python`)"
        )
    os.execv(program, ["fnstore", *sys.argv[1:]])


if __name__ == "__main__":
    main()
