"""What transformers says in f32 of a language model on the positions of `language_llama_cpp.py`, for
`tests/real_language_model.rs`.

python language_transformers.py BASE LLAMA_CPP.json OUT.json
FNSTORE_LANGUAGE_GOLDEN=OUT.json FNSTORE_LANGUAGE_MODEL=MODEL.gguf cargo test --release --test suite real_language_model

BASE has the weights of the GGUF file as floats (`python -m language_model unpack`).
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM


@torch.no_grad()
def main():
    base, sequences, out = sys.argv[1:]
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    with open(sequences) as file:
        golden = {"exact": True, "sequences": json.load(file)["sequences"], "best": [], "margins": [], "log_probs": []}
    for ids in golden["sequences"]:
        logits = model(torch.tensor([ids])).logits[0, :-1].double()
        two = logits.topk(2, dim=1).values
        golden["best"].append(logits.argmax(dim=1).tolist())
        golden["margins"].append((two[:, 0] - two[:, 1]).tolist())
        golden["log_probs"].append(logits.log_softmax(dim=1)[range(len(ids) - 1), ids[1:]].tolist())
    with open(out, "w") as file:
        json.dump(golden, file)


if __name__ == "__main__":
    main()
