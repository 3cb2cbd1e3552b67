"""`python -m frame_identification COMMAND`: earliest, prepare, train."""

import importlib
import sys

COMMANDS = ["earliest", "prepare", "train"]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m frame_identification {{{','.join(COMMANDS)}}} ...")
    importlib.import_module(f"frame_identification.{sys.argv[1]}").main(sys.argv[2:])


main()
