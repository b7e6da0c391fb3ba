"""The recurrent peer: an encoder-decoder with additive attention as one would write it in PyTorch."""

import torch
from torch import Tensor, nn

from benchmarks.work import Recurrent

__all__ = ["AttentiveLSTM"]


class AttentiveLSTM(nn.Module):
    """Bidirectional LSTM, LSTM cell with additive attention, logits of state and context.

    Args:
        sizes: see `Recurrent`.
    """

    def __init__(self, sizes: Recurrent) -> None:
        super().__init__()
        units, both = sizes.decoder_units, 2 * sizes.encoder_units
        self.source_embedding = nn.Embedding(sizes.vocab_size, sizes.embedding_dim)
        self.target_embedding = nn.Embedding(sizes.vocab_size, sizes.embedding_dim)
        self.encoder = nn.LSTM(sizes.embedding_dim, sizes.encoder_units, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTMCell(sizes.embedding_dim + both, units)
        self.key = nn.Linear(both, sizes.attention_units)
        self.query = nn.Linear(units, sizes.attention_units, bias=False)
        self.score = nn.Linear(sizes.attention_units, 1, bias=False)
        self.logits = nn.Linear(units + both, sizes.vocab_size)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
        """Ids (B, S) to values (B, S, D), keys (B, S, U) and the decoder's first state."""
        values, (hidden, cell) = self.encoder(self.source_embedding(source))
        first = (torch.cat(tuple(hidden), dim=-1), torch.cat(tuple(cell), dim=-1))
        return values, self.key(values), first

    def advance(self, embedded: Tensor, values: Tensor, keys: Tensor, state: tuple[Tensor, Tensor]):
        """A token (B, D) further: what the logits are read off, and the next state."""
        compared = torch.tanh(self.query(state[0]).unsqueeze(1) + keys)
        alignment = torch.softmax(self.score(compared), dim=1)
        context = torch.sum(alignment * values, dim=1)
        state = self.decoder(torch.cat((embedded, context), dim=-1), state)
        return torch.cat((state[0], context), dim=-1), state

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Ids (B, S) and (B, T) to logits (B, T, V)."""
        values, keys, state = self.encode(source)
        embedded = self.target_embedding(target)
        features = []
        for index in range(target.shape[1]):
            feature, state = self.advance(embedded[:, index], values, keys, state)
            features.append(feature)
        return self.logits(torch.stack(features, dim=1))

    @torch.inference_mode()
    def greedy(self, source: Tensor, length: int) -> Tensor:
        """Ids (B, S) to as many likeliest ids, (B, length)."""
        values, keys, state = self.encode(source)
        token = torch.ones(source.shape[0], dtype=torch.long)
        written = []
        for _ in range(length):
            feature, state = self.advance(self.target_embedding(token), values, keys, state)
            token = self.logits(feature).argmax(dim=-1)
            written.append(token)
        return torch.stack(written, dim=1)
