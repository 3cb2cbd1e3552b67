"""A tiny tokenizer as training/paraphrase makes them, and how it cuts sources with marks.

The tokenizer is kept as it is once written: its trainer may order pieces of equal score anew.
"""

import sys
from pathlib import Path

from tokenizers import Tokenizer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import golden
from bert import SENTENCES
from paraphrase.marks import mark
from paraphrase.tokenizer import AVOID, train

PLACE = golden.ROOT.parent / "tokenizer" / "rewriter.json"
# 256 bytes, the special tokens, and some pieces of the sentences.
SIZE = 420


def build():
    if not PLACE.exists():
        train(SENTENCES, SIZE).save(str(PLACE))
        print(f"{PLACE.name}: written")
    tokenizer = Tokenizer.from_file(str(PLACE))
    cases = []
    for sentence, avoid in [
        ("She confirmed it.", ["confirmed"]),
        ("She confirmed it.", ["it", "She"]),
        ("Confirmed, she said: they confirmed nothing.", ["confirmed"]),
        ("The ferry left an hour late .", ["an hour", "hour", "late"]),
        ("Nobody touched the soup.", ["soups"]),
        ("\u00c9ric saw the \u20ac sign.", ["\u00e9ric", "sign"]),
    ]:
        lower = sentence.lower()
        words = [(start, start + len(word)) for word in avoid for start in starts(lower, word.lower())]
        marked = mark(sentence, sorted(set(words)))
        cases.append({"sentence": sentence, "avoid": avoid, "marked": marked, "ids": tokenizer.encode(marked).ids})
    golden.write("../tokenizer/marked.json", f"sources with {AVOID} before banned words, as marks.mark sets it", cases)


def starts(text, word):
    """Where a word stands in a text by itself."""
    found = [at for at in range(len(text)) if text.startswith(word, at)]
    is_letter = lambda at: 0 <= at < len(text) and text[at].isalnum()
    return [at for at in found if not is_letter(at - 1) and not is_letter(at + len(word))]
