# SPDX-License-Identifier: MIT
"""Recurrent nets, with packed sequences and without."""

from typing import Tuple  # noqa: UP035: older releases of TorchScript read these

import torch
from nets import indices, net, normal
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

BOTH = "traced scripted"


class Packed(nn.Module):
    """An LSTM or a GRU of padded sequences."""

    def __init__(self, kind, sort=False, **options):
        super().__init__()
        self.rnn = getattr(nn, kind)(5, 4, batch_first=True, **options)
        self.sort = sort

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=self.sort)
        y, h = self.rnn(packed)
        out, sizes = pad_packed_sequence(y, batch_first=True)
        return out, sizes, h


class Alone(nn.Module):
    """A recurrent layer, whose own forward is overloaded and cannot be saved."""

    def __init__(self, kind, *sizes, **options):
        super().__init__()
        self.rnn = getattr(nn, kind)(*sizes, **options)

    def forward(self, x):
        return self.rnn(x)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.lstm = nn.LSTM(6, 5, 2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 4)

    def forward(self, ids):
        return self.out(self.lstm(self.embedding(ids))[0]).log_softmax(-1)


class WithState(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4)

    def forward(self, x, state: Tuple[Tensor, Tensor]):
        y, (h, c) = self.lstm(x, state)
        return y, h, c


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.LSTMCell(3, 4)
        self.second = nn.RNNCell(4, 2)

    def forward(self, x):
        h, c = torch.zeros(x.size(1), 4), torch.zeros(x.size(1), 4)
        g = torch.zeros(x.size(1), 2)
        for i in range(x.size(0)):
            h, c = self.first(x[i], (h, c))
            g = self.second(h, g)
        return h, g


def recurrent():
    def sequences(sort):
        def inputs(example):
            lengths = torch.tensor([6, 4, 2] if sort else [3, 6, 1])
            return torch.randn(3, 6, 5), lengths
        return inputs
    net("recurrent.lstm", lambda: Alone("LSTM", 3, 4, 2), ways=BOTH, **normal("n", 2, 3))
    net("recurrent.gru", lambda: Alone("GRU", 3, 4, bidirectional=True, batch_first=True), ways=BOTH, **normal("n", 4, 3))
    net("recurrent.rnn", lambda: Alone("RNN", 3, 4, 2, nonlinearity="relu"), ways=BOTH, **normal(5, "n", 3))
    net("recurrent.projected", lambda: Alone("LSTM", 3, 6, proj_size=2), ways=BOTH, **normal(5, "n", 3))
    net("recurrent.tagger", Tagger, ways=BOTH, **indices(20, "n", 6))
    net("recurrent.with_state", WithState, lambda e: (torch.randn(4, 2 + e, 3), (torch.randn(1, 2 + e, 4), torch.randn(1, 2 + e, 4))), BOTH, {0: (1,), 1: (1,)})
    net("recurrent.cells", Cells, ways=BOTH, **normal(4, "n", 3))
    net("recurrent.packed_lstm", lambda: Packed("LSTM"), sequences(False), BOTH)
    net("recurrent.packed_sorted_lstm", lambda: Packed("LSTM", True, num_layers=2), sequences(True), BOTH)
    net("recurrent.packed_gru", lambda: Packed("GRU", bidirectional=True), sequences(False), BOTH)
    net("recurrent.packed_rnn", lambda: Packed("RNN"), sequences(False), "traced")


recurrent()
