"""Examples with two answers, as `train` reads them: prompts of `models/verifier/prompt.toml`, and ` yes` or ` no`.

`WORK/answers.json` names the tokens of the two answers. By it `train` knows that a run's answers can be right or wrong.
"""

import json
import shutil

from .answers import ANSWERS
from .infill import START
from .passage import PROMPT
from .prepare import opened_tokenizer
from .shards import deal, write

SAMPLES = 60


class Writer:
    """Writes examples, (prompt, whether the answer is yes), of one question."""

    def __init__(self, work, base, question):
        self.work, self.question, self.tokenizer = work, question, opened_tokenizer(base)
        (work / "shards").mkdir(parents=True, exist_ok=True)
        self.start = self.tokenizer.token_to_id(START)
        self.tokens = [self.token(answer) for answer in question.answers]
        shutil.copyfile(PROMPT, work / "prompt.toml")
        (work / ANSWERS).write_text(json.dumps(dict(zip(("yes", "no"), self.tokens))) + "\n")

    def token(self, answer):
        ids = self.tokenizer.encode(answer).ids
        if len(ids) != 1:
            raise ValueError(f"the answer {answer!r} is {len(ids)} tokens of the base, expected one")
        return ids[0]

    def encoded(self, examples):
        prompts = self.tokenizer.encode_batch([prompt for prompt, _ in examples])
        yes, no = self.tokens
        return [([self.start, *ids.ids], [yes if is_true else no]) for ids, (_, is_true) in zip(prompts, examples)]

    def learned(self, part, examples, blocks):
        """The examples to learn from, as a part of so many blocks."""
        count = deal(self.work, part, self.encoded(examples), blocks, self.question.most_tokens)
        self.say(f"{part}: {count}", examples)
        samples = [f"{prompt}{self.question.answers[not is_true]}\n" for prompt, is_true in examples[:SAMPLES]]
        (self.work / f"samples.{part}.txt").write_text("\n".join(samples), encoding="utf-8")

    def held_out(self, name, examples):
        """Examples to measure on: those of `dev.*` choose the best adapter, those of `held.*` do not."""
        path = self.work / f"{name}.safetensors"
        self.say(f"{name}: {write(path, self.encoded(examples), self.question.most_tokens)}", examples)

    def say(self, what, examples):
        yes = sum(is_true for _, is_true in examples)
        print(f"{what} examples of {len(examples)}, {yes} with yes", flush=True)
