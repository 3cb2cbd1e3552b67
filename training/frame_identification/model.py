"""The two-pass LSTM of Culkin et al. (2021, section 6.3).

    word   = [word vector ; frozen states of the encoder ; characters ; part of speech]
    pass 1 : BiLSTM over the sentence's words
    pass 2 : one-directional LSTM over a span's states; its last state is the span's
    span   -> fully connected -> softmax over frames and NULL

A start's LSTM runs over MAX_WORDS words once. After each word it has the state of the span that ends there.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from .corpus import ALPHABET
from .spans import MAX_WORDS

CHARACTER, FILTERS, WINDOW, TAG = 16, 48, 3, 24


class FrameTagger(nn.Module):
    def __init__(self, table, states, tags, labels, hidden, layers, dropout):
        super().__init__()
        self.vectors = nn.Embedding.from_pretrained(table, freeze=True)
        self.characters = nn.Embedding(ALPHABET, CHARACTER, padding_idx=0)
        self.filters = nn.Conv1d(CHARACTER, FILTERS, WINDOW, padding=1)
        self.tags = nn.Embedding(tags + 1, TAG, padding_idx=0)
        inputs = table.shape[1] + states + FILTERS + TAG
        between = dropout if layers > 1 else 0.0
        self.sentence = nn.LSTM(inputs, hidden, layers, batch_first=True, bidirectional=True, dropout=between)
        self.span = nn.LSTM(2 * hidden, hidden, batch_first=True)
        self.frames = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, labels))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch):
        """Scores of the labels at the batch's spans, (N, labels)."""
        letters = self.filters(self.characters(batch.spellings).transpose(1, 2)).amax(-1)  # (W, FILTERS)
        inputs = [self.vectors(batch.vectors), batch.states, letters[batch.words], self.tags(batch.tags)]
        inputs = self.dropout(torch.cat(inputs, -1))
        packed = pack_padded_sequence(inputs, batch.lengths, batch_first=True, enforce_sorted=False)
        words, _ = pad_packed_sequence(self.sentence(packed)[0], batch_first=True)  # (B, L, 2 hidden)
        words = self.dropout(words).flatten(0, 1)
        # A span does not see the words after it, so what stands behind the last word does not matter.
        following = (batch.starts[:, None] + torch.arange(MAX_WORDS)).clamp(max=len(words) - 1)
        spans, _ = self.span(words[following])  # (S, MAX_WORDS, hidden)
        return self.frames(self.dropout(spans.flatten(0, 1)[batch.spans]))


def loss_of(logits, labels, smoothing):
    """Mean cross-entropy. Of a negative's label a share is spread over the frames: some triggers are not annotated. NULL is
    the last label."""
    logs = logits.log_softmax(-1)
    null = logits.shape[-1] - 1
    losses = -logs.gather(1, labels[:, None])[:, 0]
    smoothed = -(1 - smoothing) * logs[:, null] - smoothing * logs[:, :null].mean(-1)
    return torch.where(labels == null, smoothed, losses).mean()
