# SPDX-License-Identifier: MIT
"""Recurrent nets, torch's own transformer modules, and other models over sequences."""

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Made, dim, ids, model, normal

BATCH, LENGTH = dim("batch"), dim("length", 2, 50)


class Classifier(nn.Module):
    """Embedding, a recurrent net, a head on what it says at the end."""

    def __init__(self, recurrent, width):
        super().__init__()
        self.embedding, self.recurrent, self.head = nn.Embedding(31, 9), recurrent, nn.Linear(width, 4)

    def forward(self, tokens):
        y, _ = self.recurrent(self.embedding(tokens))
        return self.head(y[:, -1])


# torch.export fixes the length that recurrent nets unroll; the batch stays dynamic.
def classifier(recurrent, width):
    return Made(Classifier(recurrent, width), (ids(3, 6, below=31),), (ids(2, 6, below=31),), ({0: BATCH},))


@model("lstm_classifier")
def lstm_classifier():
    return classifier(nn.LSTM(9, 12, num_layers=2, batch_first=True, bidirectional=True, dropout=0.3), 24)


@model("gru_classifier")
def gru_classifier():
    return classifier(nn.GRU(9, 12, num_layers=2, batch_first=True, bidirectional=True), 24)


@model("rnn_classifier", parts=["tanh", "relu"])
def rnn_classifier(nonlinearity):
    return classifier(nn.RNN(9, 12, batch_first=True, nonlinearity=nonlinearity, bias=nonlinearity == "tanh"), 12)


@model("lstm_one_layer", quick=True)
def lstm_one_layer():
    return classifier(nn.LSTM(9, 12, batch_first=True), 12)


@model("gru_one_layer", quick=True)
def gru_one_layer():
    return classifier(nn.GRU(9, 12, batch_first=True, bias=False), 12)


@model("lstm_states")
def lstm_states():
    """First state given, last state returned; length first, without bias."""
    dims = {1: BATCH}, ({1: BATCH}, {1: BATCH})
    args = normal(5, 3, 7), (normal(2, 3, 8), normal(2, 3, 8))
    other = normal(5, 2, 7), (normal(2, 2, 8), normal(2, 2, 8))
    return Made(nn.LSTM(7, 8, bidirectional=True, bias=False), args, other, dims)


@model("gru_states")
def gru_states():
    dims = {1: BATCH}, {1: BATCH}
    return Made(
        nn.GRU(7, 8, num_layers=2), (normal(5, 3, 7), normal(2, 3, 8)), (normal(5, 2, 7), normal(2, 2, 8)), dims
    )


class CellLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(6, 5), nn.GRUCell(5, 7)

    def forward(self, x):
        state, last = None, x.new_zeros(x.shape[0], 7)
        for step in x.unbind(1):
            state = self.lstm(step, state)
            last = self.gru(state[0], last)
        return last, state[1]


@model("recurrent_cells")
def recurrent_cells():
    return Made(CellLoop(), (normal(2, 3, 6),), (normal(4, 3, 6),), ({0: BATCH},))


@model("transformer_encoder", parts=["relu", "gelu_norm_first"])
def transformer_encoder(kind):
    options = {} if kind == "relu" else {"activation": "gelu", "norm_first": True}
    layer = nn.TransformerEncoderLayer(24, 3, 40, batch_first=True, **options)
    module = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(24), enable_nested_tensor=False)
    return Made(module, (normal(2, 5, 24),), (normal(3, 8, 24),), ({0: BATCH, 1: LENGTH},))


class MaskedEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, x, padding):
        return self.encoder(x, src_key_padding_mask=padding)


@model("transformer_encoder_padding")
def transformer_encoder_padding():
    args = normal(2, 5, 16), torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], dtype=torch.bool)
    other = normal(2, 5, 16), torch.tensor([[0, 0, 0, 0, 0], [0, 1, 0, 0, 1]], dtype=torch.bool)
    return Made(MaskedEncoder(), args, other)


@model("transformer_decoder")
def transformer_decoder():
    module = nn.TransformerDecoder(nn.TransformerDecoderLayer(20, 2, 28, batch_first=True, bias=False), 2)
    args, other = (normal(2, 5, 20), normal(2, 7, 20)), (normal(3, 4, 20), normal(3, 6, 20))
    return Made(module, args, other, ({0: BATCH, 1: LENGTH}, {0: BATCH, 1: dim("memory", 2, 50)}))


class CrossAttention(nn.Module):
    """nn.MultiheadAttention with other widths of keys and values, its weights returned."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(12, 3, kdim=8, vdim=10, add_bias_kv=True, batch_first=True)

    def forward(self, query, key, value):
        return self.attention(query, key, value, average_attn_weights=True)


@model("multihead_attention")
def multihead_attention():
    args = normal(2, 4, 12), normal(2, 6, 8), normal(2, 6, 10)
    other = normal(5, 4, 12), normal(5, 6, 8), normal(5, 6, 10)
    return Made(CrossAttention(), args, other, ({0: BATCH},) * 3)


class WaveNet(nn.Module):
    """Dilated causal convolutions with gates and skip connections."""

    def __init__(self, width=10):
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2**i) for i in range(4))
        self.skips = nn.ModuleList(nn.Conv1d(width, 14, 1) for _ in range(4))
        self.last = nn.Conv1d(14, 6, 1)

    def forward(self, x):
        x, total = self.first(x), 0
        for gate, skip in zip(self.gates, self.skips):
            a, b = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, dim=1)
            y = torch.tanh(a) * torch.sigmoid(b)
            total, x = total + skip(y), x + y
        return self.last(F.relu(total)).transpose(1, 2).softmax(-1)


@model("wavenet")
def wavenet():
    return Made(WaveNet(), (normal(2, 1, 20),), (normal(3, 1, 33),), ({0: BATCH, 2: LENGTH},))


class SpeechNet(nn.Module):
    """Convolutions over time, a GRU, log-probabilities for CTC with the time first."""

    def __init__(self):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(13, 16, 5, stride=2, padding=2), nn.BatchNorm1d(16), nn.Hardtanh(0, 20))
        self.recurrent, self.head = nn.GRU(16, 10, bidirectional=True), nn.Linear(20, 7)

    def forward(self, x):
        y, _ = self.recurrent(self.front(x).permute(2, 0, 1))
        return F.log_softmax(self.head(y), dim=-1)


@model("speech_ctc")
def speech_ctc():
    return Made(SpeechNet(), (normal(2, 13, 24),), (normal(3, 13, 24),), ({0: BATCH},))


class TextCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(43, 8)
        self.convs = nn.ModuleList(nn.Conv1d(8, 5, k) for k in (2, 3, 4))
        self.head = nn.Linear(15, 3)

    def forward(self, tokens):
        x = self.embedding(tokens).permute(0, 2, 1)
        return self.head(torch.cat([F.relu(conv(x)).max(dim=2).values for conv in self.convs], dim=1))


@model("text_cnn")
def text_cnn():
    return Made(TextCnn(), (ids(2, 11, below=43),), (ids(4, 9, below=43),), ({0: BATCH, 1: dim("length", 5, 90)},))


@model("embedding_bag", parts=["mean", "sum", "max"])
def embedding_bag(mode):
    module = nn.Sequential(nn.EmbeddingBag(29, 6, mode=mode), nn.Linear(6, 4))
    return Made(module, (ids(3, 5, below=29),), (ids(3, 5, below=29),))


class StateSpace(nn.Module):
    """A linear recurrence in closed form, with cumsum and exp: the heart of a selective state-space layer."""

    def __init__(self, width=7):
        super().__init__()
        self.inner, self.rate, self.out = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        decay = -F.softplus(self.rate(x)) * 0.1
        total = decay.cumsum(dim=1)
        return self.out(total.exp() * (self.inner(x) * (-total).exp()).cumsum(dim=1) * F.silu(x))


@model("state_space")
def state_space():
    return Made(StateSpace(), (normal(2, 6, 7),), (normal(3, 10, 7),), ({0: BATCH, 1: LENGTH},))


class MixtureOfExperts(nn.Module):
    """The two best of five experts per word, weighted; every expert is computed."""

    def __init__(self, width=8, experts=5):
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.first, self.second = (nn.Parameter(torch.randn(experts, width, width) * 0.3) for _ in range(2))

    def forward(self, x):
        weight, chosen = self.router(x).softmax(-1).topk(2, dim=-1)
        weights = torch.zeros(*x.shape[:-1], self.first.shape[0]).scatter(
            -1, chosen, weight / weight.sum(-1, keepdim=True)
        )
        y = torch.einsum("bsd,edf->besf", x, self.first).relu()
        return torch.einsum("besf,efd,bse->bsd", y, self.second, weights), chosen


@model("mixture_of_experts")
def mixture_of_experts():
    return Made(MixtureOfExperts(), (normal(2, 5, 8),), (normal(3, 4, 8),), ({0: BATCH, 1: LENGTH},))


@model("lstm_projected")
def lstm_projected():
    """LSTM layers with proj_size, in both directions; run_decompositions() unrolls them."""
    module = nn.LSTM(3, 5, num_layers=2, proj_size=2, bidirectional=True, batch_first=True)
    return Made(module, (normal(2, 4, 3),), (normal(5, 4, 3),), ({0: BATCH},))


@model("encoder_layer_fast_path")
def encoder_layer_fast_path():
    """What torch's fast path for inference makes of an encoder: one operator for each layer."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
    module = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return Made(module, (normal(2, 4, 8),), (normal(5, 4, 8),), ({0: BATCH},))
