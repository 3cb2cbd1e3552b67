"""Writes a Hugging Face model directory with 8-bit weights, as fnstore reads them.

Every weight matrix W becomes an I8 tensor of the same name and `W.scale`, F32, one number a row:
W[r, c] = W8[r, c] * scale[r], symmetric. Vectors, biases and positions stay as they are. Files
are cut into shards of at most 16 MB.

    python training/quantize.py SOURCE DESTINATION
    python training/quantize.py SOURCE DESTINATION --check PAIRS.tsv.xz --pairs 200

With --check (Marian models), both models score the second column of PAIRS given the first, and
the loss is printed. Needs training/parity/requirements.txt.
"""

import argparse
import json
import lzma
import shutil
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

SHARD_BYTES = 16_000_000
COPIED = ["config.json", "generation_config.json", "tokenizer.json"]


def read(directory):
    """All tensors of a model directory, by name."""
    index = directory / "model.safetensors.index.json"
    files = ["model.safetensors"]
    if not (directory / files[0]).exists() and index.exists():
        files = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    tensors = {}
    for name in files:
        with safe_open(directory / name, "pt") as file:
            tensors.update((key, file.get_tensor(key)) for key in file.keys())
    return tensors


def is_matrix(name, tensor):
    return name.endswith(".weight") and tensor.dim() == 2 and "position" not in name


def quantize(tensors):
    result = {}
    for name, tensor in tensors.items():
        if not is_matrix(name, tensor):
            result[name] = tensor
            continue
        weight = tensor.float()
        largest = weight.abs().amax(1)
        # A row of zeros needs some scale; any will do.
        scale = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
        result[name] = (weight / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
        result[f"{name}.scale"] = scale
    return result


def dequantize(tensors):
    result = {}
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int8:
            tensor = tensor.float() * tensors[f"{name}.scale"][:, None]
        if not name.endswith(".scale"):
            result[name] = tensor.float()
    return result


def write(tensors, directory):
    shards, size = [{}], 0
    for name, tensor in sorted(tensors.items()):
        if shards[-1] and size + tensor.nbytes > SHARD_BYTES:
            shards.append({})
            size = 0
        shards[-1][name] = tensor.contiguous()
        size += tensor.nbytes
    if len(shards) == 1:
        save(shards[0], directory / "model.safetensors")
        return
    places = {}
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        save(shard, directory / file)
        places.update((name, file) for name in shard)
    index = {"metadata": {}, "weight_map": dict(sorted(places.items()))}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def save(tensors, path):
    save_file(tensors, path, metadata={"format": "pt"})
    path.chmod(0o644)


@torch.inference_mode()
def score(directory, tensors, pairs):
    """Logits of each target's tokens, and their negative log-likelihoods (natural log)."""
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig.from_pretrained(directory)
    model = MarianMTModel(config).float().eval()
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    untied = [name for name in missing if "embed" not in name and name != "lm_head.weight"]
    assert not untied and not unexpected, (untied, unexpected)
    model.tie_weights()
    logits, losses = [], []
    for source, target in pairs:
        inputs = torch.tensor([[config.decoder_start_token_id] + target[:-1]])
        result = model(input_ids=torch.tensor([source]), decoder_input_ids=inputs).logits[0]
        logits.append(result)
        losses += result.log_softmax(-1).gather(1, torch.tensor(target)[:, None]).neg().flatten().tolist()
    return logits, torch.tensor(losses)


def check(directory, before, after, path, count):
    from paraphrase.text import normalise
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    with lzma.open(path, "rt", encoding="utf-8") as file:
        lines = [map(normalise, line.rstrip("\n").split("\t")[:2]) for _, line in zip(range(count), file)]
    pairs = [tuple(tokenizer.encode(text).ids[:128] for text in line) for line in lines]
    logits, losses = score(directory, dequantize(before), pairs)
    logits8, losses8 = score(directory, dequantize(after), pairs)
    difference = torch.cat([(a - b).abs().amax(1) for a, b in zip(logits, logits8)])
    same = torch.cat([a.argmax(1) == b.argmax(1) for a, b in zip(logits, logits8)])
    print(f"{len(pairs)} pairs, {len(losses)} target tokens")
    print(f"negative log-likelihood per token: {losses.mean():.4f}, 8-bit {losses8.mean():.4f}")
    print(f"largest logit difference per token: mean {difference.mean():.3f}, max {difference.max():.3f}")
    print(f"same best token: {same.float().mean():.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--check", type=Path, metavar="PAIRS")
    parser.add_argument("--pairs", type=int, default=200)
    arguments = parser.parse_args()
    before = read(arguments.source)
    after = quantize(before)
    arguments.destination.mkdir(parents=True, exist_ok=True)
    write(after, arguments.destination)
    for name in COPIED:
        if (arguments.source / name).exists():
            shutil.copyfile(arguments.source / name, arguments.destination / name)
    if arguments.check:
        check(arguments.destination, before, after, arguments.check, arguments.pairs)


if __name__ == "__main__":
    main()
