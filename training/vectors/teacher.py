"""What a sentence encoder makes of words by themselves."""

import numpy
import torch
from transformers import AutoModel, AutoTokenizer

BATCH = 256


@torch.inference_mode()
def states(words, directory):
    """The mean of all states of each word, special tokens counted, as the teacher makes sentence embeddings (V, D)."""
    tokenizer, encoder = AutoTokenizer.from_pretrained(directory), AutoModel.from_pretrained(directory).eval()
    result = numpy.zeros((len(words), encoder.config.hidden_size), dtype=numpy.float32)
    order = sorted(range(len(words)), key=lambda at: len(words[at]))
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        inputs = tokenizer([words[at] for at in batch], return_tensors="pt", padding=True, truncation=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = encoder(**inputs).last_hidden_state.float()
        real = inputs["attention_mask"][..., None]
        result[batch] = ((hidden * real).sum(1) / real.sum(1)).numpy()
    return result
