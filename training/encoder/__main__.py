"""`python -m encoder COMMAND`: vocabulary, distil, align, export, unpack, attention, ablation."""

import importlib
import sys

COMMANDS = ["vocabulary", "distil", "align", "export", "unpack", "attention", "ablation"]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m encoder {{{','.join(COMMANDS)}}} ...")
    importlib.import_module(f"encoder.{sys.argv[1]}").main(sys.argv[2:])


main()
