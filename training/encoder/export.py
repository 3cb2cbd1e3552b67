"""Writes a run of `align` as fnstore reads it: an encoder with 8-bit weights, and the head that stands on it.

Of a run that trained an adapter, `--encoder` is the encoder that it is for, which stays as it is; the adapter lies with the
head, in 16 bits.

    python -m encoder export --run RUN --data SPANS --encoder models/aligner-encoder --head models/aligner

Threshold and counts in the head's config.json are those of the 8-bit encoder on `dev.jsonl`. The head names its encoder
by fingerprint (src/engine/nn/weights.rs), so it is written last.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

import blake3
import torch
from safetensors.torch import load_file
from transformers import BertModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import quantize

from . import links
from .head import CUE_SCALE, FEATURES, LINK_FEATURES, REACH, answers, best_threshold, f1, linker, network, read, report
from .head import opened_tokenizer, scored_links
from .session import device

TYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int8: "I8", torch.int64: "I64"}


def fingerprint(directory):
    """A model directory's, as fnstore computes it."""
    hasher = blake3.blake3()

    def field(content):
        hasher.update(len(content).to_bytes(8, "big"))
        hasher.update(content)

    field(b"fnstore model 1")
    for name, tensor in sorted(quantize.read(directory).items()):
        field(name.encode())
        field(f"{TYPES[tensor.dtype]} {list(tensor.shape)}".encode())
        field(tensor.contiguous().view(torch.uint8).numpy().tobytes())
    for name in ("config.json", "tokenizer.json"):
        field(name.encode())
        field((directory / name).read_bytes())
    return hasher.hexdigest()


def write_encoder(source, directory, exact):
    """Copies the encoder, its matrices in 8 bits unless `exact`."""
    directory.mkdir(parents=True, exist_ok=True)
    tensors = quantize.read(source)
    quantize.write(tensors if exact else quantize.quantize(tensors), directory)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(source / name, directory / name)


def opened(directory):
    """The encoder in a directory that `write_encoder` wrote, in f32."""
    config = BertModel.config_class.from_pretrained(directory)
    model = BertModel(config, add_pooling_layer=False)
    model.load_state_dict(quantize.dequantize(quantize.read(directory)))
    return model.to(device())


def adapted(directory, tensors):
    """An encoder with an adapter's differences added to the layers that it has them for, which are all that is read."""
    layers = 1 + max(int(name.split(".")[2]) for name in tensors)
    model = BertModel.from_pretrained(directory, add_pooling_layer=False, dtype=torch.float32, num_hidden_layers=layers)
    state = model.state_dict()
    for name in state:
        if f"{name}.up" in tensors:
            state[name] += tensors[f"{name}.up"] @ tensors[f"{name}.down"]
        elif f"{name}.delta" in tensors:
            state[name] += tensors[f"{name}.delta"]
    model.load_state_dict(state)
    return model.to(device())


def unanswered(items, found):
    """The items that are too long, as fnstore's report has them."""
    return {"unanswered": len(items) - len(found)} if len(items) > len(found) else {}


def part(given, model, of_words, tokenizer):
    """What the head's configuration says of the linker beside it."""
    scored = scored_links(model, of_words, tokenizer, links.read(given.words), device())
    threshold, mutual = links.tuned(scored)
    print(f"links: error rate {100 * links.error_rate(scored, threshold, mutual):.2f} %, at {threshold} and {mutual}")
    hidden = of_words.hidden.out_features
    return {"hidden": hidden, "features": links.FEATURES, "threshold": threshold, "mutual_threshold": mutual}


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder export", description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path, required=True, help="of `align`")
    parser.add_argument("--data", type=Path, required=True, help="directory with dev.jsonl")
    parser.add_argument("--encoder", type=Path, required=True, help="directory to write; of an adapter, to read")
    parser.add_argument("--head", type=Path, required=True, help="directory to write")
    parser.add_argument("--words", type=Path, nargs="*", default=[], help="word alignments that choose a linker's thresholds")
    parser.add_argument("--f32", action="store_true", help="keep the encoder's weights as they are")
    given = parser.parse_args(arguments)
    best = given.run / "best"
    adapter = load_file(best / "adapter.safetensors") if (best / "adapter.safetensors").exists() else {}
    # Rounded before anything is measured.
    adapter = {name: tensor.half().float() for name, tensor in adapter.items()}
    if adapter:
        model = adapted(given.encoder, adapter)
    else:
        write_encoder(best, given.encoder, given.f32)
        model = opened(given.encoder)
    tokenizer = opened_tokenizer(given.encoder)
    beside = (best / "linker.safetensors").exists()
    if beside and not given.words:
        parser.error("--words: the run has a linker, and these choose its thresholds")
    head, of_words = network(model.config.hidden_size, beside), linker(model.config.hidden_size) if beside else None
    for module, name in ((head, "head"), (of_words, "linker")):
        if module:
            module.load(best / f"{name}.safetensors")
            module.to(device())
    items = read(given.data / "dev.jsonl")
    found = answers(model, head, of_words, tokenizer, items, device())
    threshold = best_threshold(found)
    config = {
        "format": 1,
        "encoder": given.encoder.name,
        "encoder_fingerprint": fingerprint(given.encoder),
        **({"layer": model.config.num_hidden_layers} if adapter else {}),
        "width": model.config.hidden_size,
        "hidden": head.hidden.out_features,
        "unit": "words",
        "features": FEATURES + LINK_FEATURES * beside,
        "cue_scale": CUE_SCALE,
        "k": REACH,
        "threshold": threshold,
        **({"linker": part(given, model, of_words, tokenizer)} if beside else {}),
        "training": json.loads((best / "training.json").read_text()),
        "dev": report(found, 0.0) | unanswered(items, found),
        "dev_at_threshold": report(found, threshold) | unanswered(items, found),
    }
    given.head.mkdir(parents=True, exist_ok=True)
    (given.head / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    halves = {f"adapter.{name}": tensor.half() for name, tensor in adapter.items()}
    of_linker = {f"linker.{name}": tensor for name, tensor in of_words.tensors().items()} if beside else {}
    quantize.save(head.tensors() | halves | of_linker, given.head / "model.safetensors")
    for name in ("all", "changed", "identical"):
        counts = config["dev"][name]
        print(f"dev, {name}: exact F1 {100 * f1(counts['exact']):.2f} %, soft F1 {100 * f1(counts['soft']):.2f} %")
