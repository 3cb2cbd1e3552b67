"""`python -m language_model COMMAND`; COMMANDS lists them."""

import importlib
import sys

COMMANDS = [
    "unpack",
    "prepare",
    "verifier",
    "meaning",
    "returned",
    "infill",
    "train",
    "export",
    "blocks",
    "rewrite",
]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m language_model {{{','.join(COMMANDS)}}} ...")
    importlib.import_module(f"language_model.{sys.argv[1]}").main(sys.argv[2:])


main()
