"""What the shipped aligner computes, from its encoder to the scores of links and of the best spans."""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

import golden

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from encoder import head as aligner
from encoder.export import opened

MODELS = Path(__file__).resolve().parents[2] / "models"
# Source, target, and spans of the source in words.
PAIRS = [
    ("Wolves attacked the farm .", "The farm was assaulted by wolves .", [[1, 2], [2, 4], [0, 5]]),
    ("She gave the whole thing up", "she abandoned it", [[1, 2], [2, 5], [5, 6]]),
    ("naïve Kraków !", "Kraków , which is naive", [[0, 1], [1, 2]]),
    ("Go", "Leave now", [[0, 1]]),
]


def network(path, module, prefix=""):
    module.load_state_dict({name: path[prefix + name] for name in module.state_dict()})
    return module.eval()


@torch.inference_mode()
def shipped():
    tensors = load_file(MODELS / "aligner" / "model.safetensors")
    encoder = opened(MODELS / "aligner-encoder").cpu().eval()
    tokenizer = Tokenizer.from_file(str(MODELS / "aligner-encoder" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    width = encoder.config.hidden_size
    scorer = network(tensors, aligner.network(width, linked=True))
    linker = network(tensors, aligner.linker(width), "linker.")
    cases = []
    for source, target, spans in PAIRS:
        source, target = source.split(), target.split()
        [sums] = aligner.encode(encoder, tokenizer, [(source, target)], torch.device("cpu"), exact=True)
        scores = aligner.linked(linker, sums, (source, target)).sigmoid()
        best = []
        for span in spans:
            candidates = aligner.candidates(span[1] - span[0], len(target))
            of_span = scorer(aligner.features(sums, span, candidates, scores)).sigmoid()
            place = int(of_span.argmax())
            best.append({"span": span, "best": list(candidates[place]), "score": golden.rounded(of_span[place].item(), 4)})
        cases.append({
            "source": source,
            "target": target,
            "links": golden.rounded(scores, 4),
            "spans": best,
        })
    about = "models/aligner: scores of links, and the best spans with theirs"
    golden.write("aligner.json", about, cases)


if __name__ == "__main__":
    shipped()
