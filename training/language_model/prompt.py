"""How a rewriting is asked for: the template in `prompt.toml`, filled in and read back."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent / "prompt.toml"
# The lines of a template that hold lists of words.
LISTS = ("avoid", "use", "hint")


@dataclass
class Request:
    """A sentence to rewrite, words that the output must not contain, must contain, and may use."""

    sentence: str
    avoid: list = field(default_factory=list)
    use: list = field(default_factory=list)
    hint: list = field(default_factory=list)


class Template:
    def __init__(self, path=HERE):
        self.text = Path(path).read_text(encoding="utf-8")
        self.parts = tomllib.loads(self.text)
        if self.parts["format"] != 1:
            raise ValueError(f"{path}: format {self.parts['format']}, expected 1")

    def stop(self):
        return self.parts["stop"]

    def write(self, request):
        """The prompt of a request."""
        lines = [self.parts["sentence"].replace("{}", request.sentence)]
        for name in LISTS:
            words = getattr(request, name)
            if words:
                lines.append(self.parts[name].replace("{}", self.parts["separator"].join(words)))
        return "".join(lines) + self.parts["answer"]

    def read(self, prompt):
        """The request that a prompt was written of."""
        if not prompt.endswith(self.parts["answer"]):
            raise ValueError(f"no prompt: {prompt!r} does not end with {self.parts['answer']!r}")
        rest, found = prompt.removesuffix(self.parts["answer"]), {}
        for name in ("sentence", *LISTS):
            before, after = self.parts[name].split("{}")
            if rest.startswith(before):
                found[name], _, rest = rest.removeprefix(before).partition(after)
        if rest or "sentence" not in found:
            raise ValueError(f"no prompt: {prompt!r} has {rest!r} left")
        lists = {name: found[name].split(self.parts["separator"]) for name in LISTS if name in found}
        return Request(found["sentence"], **lists)
