"""What a verifier is asked, as fnstore asks it: `src/verify/`, `models/verifier/prompt.toml`.

The rules are fnstore's, of which none is left to chance: the first two lines of a definition, 45 words at most; ten lemmas of
other LUs, those of most annotated sentences first; 25 words of the sentence on either side of the marked ones; natural spacing.
"""

import re
import tomllib
from pathlib import Path

from .infill import natural

# The file that fnstore reads, too.
PROMPT = Path(__file__).resolve().parents[2] / "models/verifier/prompt.toml"
# Words beside the marked ones; characters within which the parts of a target are one phrase; lines and words of a
# definition; lemmas.
BESIDE, NEAR, LINES, WORDS, MOST = 25, 40, 2, 45, 10
FIELD = re.compile(r"\{(\w+)\}")
BREAKS = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")


class Question:
    """A question of the file, by its name."""

    def __init__(self, name, path=PROMPT):
        file = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        if file["format"] != 1:
            raise ValueError(f"{path}: format {file['format']}, expected 1")
        self.lines, self.separator = file[name]["lines"], file[name].get("separator", ", ")
        self.answers, self.most_tokens = file[name]["answers"], file[name]["tokens"]

    def write(self, **fields):
        """The prompt; a line of which every field is empty is left out."""
        lists = {name: value if isinstance(value, list) else [value] for name, value in fields.items()}
        texts = {name: self.separator.join(filter(None, map(one_line, value))) for name, value in lists.items()}
        kept = (line for line in self.lines if not FIELD.search(line) or any(texts[name] for name in FIELD.findall(line)))
        return "".join(FIELD.sub(lambda field: texts[field[1]], line) for line in kept)


def one_line(text):
    return BREAKS.sub(" ", text.strip())


def definition(text):
    """The beginning of a definition without markup: `verify::passage::definition`."""
    lines = [line for line in text.split("\n") if line.strip() and "[[" not in line]
    text = re.sub(r"\[(?:[A-Z][\w'-]*) ([^\[\]]*)\]", r"\1", " ".join(lines[:LINES]))
    return " ".join(text.replace("[", "").replace("]", "").split()[:WORDS])


def lemma(lu):
    """The lemma of an LU's name: `verify::passage::lemma`."""
    return re.sub(r"\s*\([^)]*\)", "", lu.rsplit(".", 1)[0])


def most_annotated(units):
    """LUs as `fnstore lus` prints them, in the order in which fnstore lists them: by the number that the release states."""
    return sorted(units, key=lambda unit: (-(unit["claimed_annotated"] or 0), unit["name"]))


def listed(units, without, most=MOST):
    """The lemmas of LUs, each once and in this order, but that of the LU of a name."""
    lemmas = dict.fromkeys(lemma(unit["name"]) for unit in units)
    return [name for name in lemmas if name.strip() and name.lower() != lemma(without).lower()][:most]


def marked(text, targets, word=None):
    """(the sentence with its target between asterisks, the target's words), or None: `verify::passage::marked`, before
    spacing. `word` stands in the target's place if it is given."""
    if not targets:
        return None
    start, end = min(map(tuple, targets))
    last = max(end for _, end in targets)
    end = last if last - start < NEAR else end
    word = word or text[start:end]
    if not word.strip():
        return None
    left, right = text[:start].split(), text[end:].split()
    if len(left) + len(right) > 2 * BESIDE:
        left = (["..."] if len(left) > BESIDE else []) + left[-BESIDE:]
        right = right[:BESIDE] + (["..."] if len(right) > BESIDE else [])
    return f"{' '.join(left)} *{word}* {' '.join(right)}".strip(), word


def asked(question, frame, meaning, lemmas, sentence, word):
    """The prompt of the first question. `meaning` is what `definition` gave, `sentence` what `marked` gave."""
    frame = frame.replace("_", " ")
    return question.write(frame=frame, definition=meaning, words=lemmas, sentence=natural(sentence), word=word)
