"""Hidden states of BERT models: a tiny random one, and all-MiniLM-L6-v2."""

import os
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

import golden

SENTENCES = [
    "Rain.",
    "She confirmed it.",
    "The ferry left an hour late.",
    "Nobody at the table had touched the soup.",
    "Auditors verified every figure in the annual report.",
    "He apologised to the neighbours for the noise.",
    "Could you check whether the back door is locked?",
    "The committee rejected both proposals without much discussion.",
    "Prices of wheat rose sharply after the harvest failed in three provinces.",
    "A retired teacher, who had lived there since 1962, showed us around the harbour.",
    "They corroborated the witness's account with records from two independent laboratories.",
    "Snow fell.",
    "Although the bridge had been closed for repairs, a few cyclists kept using it at night.",
    "Its roof, its windows and most of its floorboards had been carried off by the villagers.",
    "The engine coughed twice, shuddered, and then died in the middle of the crossing.",
    "In the spring of that year the museum lent eleven of its drawings to a gallery in Krak\u00f3w.",
    "Why, asked the youngest of the sisters, should anyone pay for what has always been free?",
    "What the minister said to the press on Tuesday differed in tone, though hardly in substance, "
    "from what he had told the parliament behind closed doors the week before.",
    "The doctor examined the child, wrote a prescription, explained to the father how often the "
    "syrup should be given, and asked them both to come back if the fever had not gone by Monday.",
    "Thanks!",
]


def padded(sequences, pad=0):
    longest = max(map(len, sequences))
    ids = torch.tensor([sequence + [pad] * (longest - len(sequence)) for sequence in sequences])
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return ids, (torch.arange(longest)[None] < lengths[:, None]).long()


def tiny():
    """All states of a padded batch with two token types. No size is a multiple of 16."""
    config = BertConfig(
        vocab_size=61, hidden_size=36, num_hidden_layers=2, num_attention_heads=3,
        intermediate_size=52, max_position_embeddings=24, type_vocab_size=2, layer_norm_eps=1e-12,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    golden.fill(model, seed=1, spread=2.0)
    golden.save(model, golden.ROOT / "bert")
    sequences = [[2, 17, 33, 5, 3], [2, 60, 3], list(range(24)), [7], [2, 9, 9, 3, 41, 8, 3]]
    types = [[0] * 5, [0, 1, 1], [0] * 11 + [1] * 13, [1], [0, 0, 0, 0, 1, 1, 1]]
    ids, mask = padded(sequences)
    with torch.inference_mode():
        states = model(
            input_ids=ids, attention_mask=mask, token_type_ids=padded(types)[0]
        ).last_hidden_state
    cases = [
        {"ids": ids, "type_ids": kinds, "states": golden.rounded(states[row, : len(ids)])}
        for row, (ids, kinds) in enumerate(zip(sequences, types))
    ]
    golden.write("bert/states.json", "last hidden states of one padded batch", cases)


def minilm():
    """A part of the states of 20 sentences in one padded batch."""
    cache = Path(os.environ.get("FNSTORE_CACHE", Path.home() / ".cache" / "fnstore"))
    models = Path(os.environ.get("FNSTORE_MODELS", cache / "models"))
    directory = models / "all-MiniLM-L6-v2"
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    sequences = [tokenizer.encode(sentence).ids for sentence in SENTENCES]
    model = BertModel.from_pretrained(directory, attn_implementation="eager").eval()
    ids, mask = padded(sequences)
    with torch.inference_mode():
        states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    cases = []
    for row, (sentence, sequence) in enumerate(zip(SENTENCES, sequences)):
        own = states[row, : len(sequence)]
        tokens = [0, len(sequence) // 2, len(sequence) - 1]
        cases.append({
            "sentence": sentence,
            "ids": sequence,
            "tokens": tokens,
            "first_16": golden.rounded(own[tokens, :16]),
            "norms": golden.rounded(own.norm(dim=-1)),
        })
    about = "all-MiniLM-L6-v2, one padded batch: 16 numbers of three tokens, norms of all"
    golden.write("minilm.json", about, cases)
