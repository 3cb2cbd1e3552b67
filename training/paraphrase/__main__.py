"""`python -m paraphrase COMMAND`: prepare, tokenizer, words, train, distil, ablation, export, evaluate."""

import importlib
import sys

COMMANDS = ["prepare", "tokenizer", "words", "train", "distil", "ablation", "export", "evaluate"]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m paraphrase {{{','.join(COMMANDS)}}} ...")
    importlib.import_module(f"paraphrase.{sys.argv[1]}").main(sys.argv[2:])


main()
