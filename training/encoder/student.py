"""The student's shape, and hidden states pooled over words, in which student and teacher can be compared."""

import torch
from transformers import BertConfig, BertModel

SHAPES = {
    # Shows in minutes that the recipe runs.
    "tiny": {"width": 128, "layers": 2, "heads": 4},
    "small": {"width": 256, "layers": 6, "heads": 8},
    # 10 MB at 8 bits with 12,000 pieces, for teachers that are cut off after a few layers.
    "shallow": {"width": 384, "layers": 3, "heads": 12},
    # 12 MB at 8 bits with 12,000 pieces.
    "medium": {"width": 384, "layers": 4, "heads": 12},
    "deep": {"width": 384, "layers": 6, "heads": 12},
}
MAX_PIECES = 256
# Of a dimension of a teacher's states, as a share of their mean variance.
LEAST_VARIANCE = 0.05


def student(shape, pieces):
    """A BERT with random weights."""
    shape = SHAPES[shape]
    return BertModel(
        BertConfig(
            vocab_size=pieces,
            hidden_size=shape["width"],
            num_hidden_layers=shape["layers"],
            num_attention_heads=shape["heads"],
            intermediate_size=4 * shape["width"],
            max_position_embeddings=MAX_PIECES,
            pad_token_id=0,
            # The teacher's states are exact; noise on the way to them only slows the student down.
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        ),
        add_pooling_layer=False,
    )


class Cut:
    """Texts, or pairs of texts, cut into pieces, padded, and the word that each piece belongs to.

    Every text's words are numbered on from those of the text before; the tokens around a text ([CLS], [SEP])
    count as words. `words` (B, T) holds the numbers, `count` for padding; `sides` (count) says of each word whether
    it stands in the first text (0), the second (1), or is such a token (2); `rows` (count) in which text.
    """

    def __init__(self, encodings):
        longest = max(len(encoding.ids) for encoding in encodings)
        shape = (len(encodings), longest)
        self.ids = torch.zeros(shape, dtype=torch.long)
        self.types = torch.zeros(shape, dtype=torch.long)
        self.mask = torch.zeros(shape, dtype=torch.long)
        words = torch.full(shape, -1, dtype=torch.long)
        sides, rows = [], []
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            self.ids[row, :length] = torch.tensor(encoding.ids)
            self.types[row, :length] = torch.tensor(encoding.type_ids)
            self.mask[row, :length] = 1
            before = None
            for at, (side, word) in enumerate(zip(encoding.sequence_ids, encoding.word_ids)):
                if side is None or (side, word) != before:
                    sides.append(2 if side is None else side)
                    rows.append(row)
                before = (side, word)
                words[row, at] = len(sides) - 1
        self.count = len(sides)
        self.words = torch.where(words < 0, self.count, words)
        self.sides, self.rows = torch.tensor(sides), torch.tensor(rows)

    def to(self, device):
        for name in ("ids", "types", "mask", "words", "sides", "rows"):
            setattr(self, name, getattr(self, name).to(device))
        return self


def layers(model, cut):
    """The states after the embeddings and after each layer, each (B, T, D)."""
    output = model(
        input_ids=cut.ids, attention_mask=cut.mask, token_type_ids=cut.types, output_hidden_states=True
    )
    return output.hidden_states


def pooled(states, cut):
    """The mean state of every word's pieces: (count, D)."""
    flat = states.float().flatten(0, 1)
    words = cut.words.flatten()
    sums = flat.new_zeros(cut.count + 1, flat.shape[1]).index_add(0, words, flat)
    pieces = torch.bincount(words, minlength=cut.count + 1).clamp(min=1)
    return (sums / pieces[:, None])[: cut.count]


def unexplained(states, wanted):
    """The share of the variance of a teacher's states (count, D), dimension by dimension, that a student's leave open."""
    variance = wanted.var(0)
    return ((states - wanted) ** 2 / torch.maximum(variance, LEAST_VARIANCE * variance.mean())).mean()
