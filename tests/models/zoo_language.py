# SPDX-License-Identifier: MIT
"""Language models in plain torch: BERT, DistilBERT, GPT-2 (small widths and full size), Llama-like, T5, a cached
decoding step, ..."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Made, dim, ids, model, normal


class SelfAttention(nn.Module):
    """Attention with separate projections; `mask` is added to the scores."""

    def __init__(self, width, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=bias) for _ in range(4))

    def split(self, x):
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)

    def forward(self, x, mask, memory=None):
        memory = x if memory is None else memory
        query, key, value = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + mask
        return self.out((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


class PostNormLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask):
        x = self.norm1(x + self.dropout(self.attention(x, mask)))
        return self.norm2(x + self.dropout(self.outer(F.gelu(self.inner(x)))))


class Bert(nn.Module):
    """BERT with its pooler; without token types it is DistilBERT, which classifies."""

    def __init__(self, words=97, width=36, heads=3, layers=2, length=40, token_types=True):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width, padding_idx=0), nn.Embedding(length, width)
        self.token_types = nn.Embedding(2, width) if token_types else None
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(PostNormLayer(width, heads, 2 * width + 1) for _ in range(layers))
        self.register_buffer("position_ids", torch.arange(length)[None], persistent=False)
        self.pooler, self.head = nn.Linear(width, width), nn.Linear(width, 3)

    def forward(self, tokens, attention_mask, token_types=None):
        x = self.words(tokens) + self.positions(self.position_ids[:, : tokens.shape[1]])
        if self.token_types is not None:
            x = x + self.token_types(token_types)
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, mask)
        if self.token_types is None:
            return self.head(F.relu(self.pooler(x[:, 0])))
        return x, torch.tanh(self.pooler(x[:, 0]))


def padding_mask(batch, length):
    """The last words of every text but the first are padding."""
    return (torch.arange(length)[None] < length - torch.arange(batch)[:, None]).long()


BATCH, LENGTH = dim("batch"), dim("length", 2, 39)
TEXT = {0: BATCH, 1: LENGTH}


@model("bert", quick=True)
def bert():
    args = ids(2, 7, below=97), padding_mask(2, 7), ids(2, 7, below=2)
    other = ids(3, 12, below=97), padding_mask(3, 12), ids(3, 12, below=2)
    return Made(Bert(), args, other, (TEXT, TEXT, TEXT))


@model("distilbert")
def distilbert():
    args, other = (ids(2, 7, below=97), padding_mask(2, 7)), (ids(5, 4, below=97), padding_mask(5, 4))
    return Made(Bert(token_types=False, width=24, heads=2), args, other, (TEXT, TEXT))


@model("bert_fixed_shape")
def bert_fixed_shape():
    args = ids(1, 9, below=97), padding_mask(1, 9), ids(1, 9, below=2)
    other = ids(1, 9, below=97), torch.tensor([[1, 1, 1, 0, 1, 0, 1, 1, 0]]), ids(1, 9, below=2)
    return Made(Bert(layers=1), args, other)


class CausalLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        parts = self.qkv(self.norm1(x)).split(x.shape[-1], dim=2)
        query, key, value = (p.unflatten(2, (self.heads, -1)).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.outer(F.gelu(self.inner(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, words, width, heads, layers, length):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(CausalLayer(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        nn.init.normal_(self.words.weight, std=0.02)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


@model("gpt2", quick=True)
def gpt2():
    return Made(Gpt2(101, 40, 5, 2, 64), (ids(2, 7, below=101),), (ids(3, 13, below=101),), (TEXT,))


@model("gpt2_small", full_size=True)
def gpt2_small():
    module = Gpt2(50257, 768, 12, 12, 1024)
    return Made(module, (ids(2, 9, below=50257),), (ids(1, 6, below=50257),), (TEXT,))


class RmsNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


def rotate(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class LlamaLayer(nn.Module):
    """RMSNorm, rotary positions, heads that share keys and values, a gated inner layer."""

    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.query, self.out = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.key, self.value = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x, cos, sin, mask):
        batch, length, _ = x.shape
        y = self.norm1(x)
        query = rotate(self.query(y).view(batch, length, self.heads, self.size).transpose(1, 2), cos, sin)
        key = rotate(self.key(y).view(batch, length, self.groups, self.size).transpose(1, 2), cos, sin)
        value = self.value(y).view(batch, length, self.groups, self.size).transpose(1, 2)
        repeats = self.heads // self.groups
        key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
        scores = (query @ key.transpose(2, 3)) * self.size**-0.5 + mask
        y = scores.softmax(-1, dtype=torch.float32).to(x.dtype) @ value
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, -1))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, words=89, width=48, heads=6, groups=2, layers=2):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(LlamaLayer(width, heads, groups) for _ in range(layers))
        self.norm, self.head = RmsNorm(width), nn.Linear(width, words, bias=False)
        size = width // heads
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, size, 2).float() / size), persistent=False)

    def forward(self, tokens):
        x = self.words(tokens)
        length = tokens.shape[1]
        angles = torch.outer(torch.arange(length, device=tokens.device).float(), self.frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        mask = torch.full((length, length), float("-inf"), dtype=x.dtype).triu(diagonal=1)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.head(self.norm(x)).float()


@model("llama", quick=True)
def llama():
    return Made(Llama(), (ids(2, 7, below=89),), (ids(3, 11, below=89),), (TEXT,))


@model("llama_float16", tolerance=2e-2)
def llama_float16():
    module = Llama(layers=1).half()
    return Made(module, (ids(2, 7, below=89),), (ids(3, 11, below=89),), (TEXT,))


class GroupedAttention(nn.Module):
    """scaled_dot_product_attention with enable_gqa, a scale and a mask of bools."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(24, 24), nn.Linear(24, 8), nn.Linear(24, 8)

    def forward(self, x, keep):
        query, key, value = (
            layer(x).unflatten(-1, (-1, 4)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )
        y = F.scaled_dot_product_attention(query, key, value, attn_mask=keep, scale=0.3, enable_gqa=True)
        return y.transpose(1, 2).flatten(2)


@model("grouped_query_attention")
def grouped_query_attention():
    args = normal(2, 5, 24), torch.ones(5, 5, dtype=torch.bool).tril()
    other = normal(3, 9, 24), torch.ones(9, 9, dtype=torch.bool).tril(2)
    return Made(GroupedAttention(), args, other, ({0: BATCH, 1: LENGTH}, {0: LENGTH, 1: LENGTH}))


class T5Layer(nn.Module):
    def __init__(self, width, heads, cross):
        super().__init__()
        self.attention = SelfAttention(width, heads, bias=False)
        self.cross = SelfAttention(width, heads, bias=False) if cross else None
        self.norms = nn.ModuleList(RmsNorm(width) for _ in range(3 if cross else 2))
        self.inner, self.outer = nn.Linear(width, 2 * width, bias=False), nn.Linear(2 * width, width, bias=False)

    def forward(self, x, bias, memory=None):
        x = x + self.attention(self.norms[0](x), bias)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), 0.0, memory)
        return x + self.outer(F.relu(self.inner(self.norms[-1](x))))


class T5Stack(nn.Module):
    """Layers whose first one owns the bias of relative positions, in buckets that grow with the distance."""

    def __init__(self, width, heads, layers, decoder):
        super().__init__()
        self.decoder = decoder
        self.bias = nn.Embedding(8, heads)
        self.layers = nn.ModuleList(T5Layer(width, heads, decoder) for _ in range(layers))
        self.norm = RmsNorm(width)

    def buckets(self, distance):
        if self.decoder:
            start, distance, count = 0, -torch.min(distance, torch.zeros_like(distance)), 8
        else:
            start, distance, count = (distance > 0).long() * 4, distance.abs(), 4
        exact = count // 2
        large = exact + (torch.log(distance.float() / exact) / math.log(16 / exact) * (count - exact)).long()
        return start + torch.where(distance < exact, distance, large.clamp(max=count - 1))

    def forward(self, x, memory=None):
        positions = torch.arange(x.shape[1], device=x.device)
        distance = positions[None, :] - positions[:, None]
        bias = self.bias(self.buckets(distance)).permute(2, 0, 1).unsqueeze(0)
        if self.decoder:
            bias = bias.masked_fill(distance > 0, -1e9)
        for layer in self.layers:
            x = layer(x, bias, memory)
        return self.norm(x)


class T5(nn.Module):
    def __init__(self, words=83, width=32, heads=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.encoder, self.decoder = T5Stack(width, heads, 2, False), T5Stack(width, heads, 2, True)

    def forward(self, tokens, start):
        memory = self.encoder(self.words(tokens))
        y = self.decoder(self.words(start), memory) * self.words.weight.shape[1] ** -0.5
        return F.linear(y, self.words.weight), memory


@model("t5")
def t5():
    target = {0: BATCH, 1: dim("target", 2, 39)}
    args, other = (ids(2, 9, below=83), ids(2, 4, below=83)), (ids(3, 6, below=83), ids(3, 11, below=83))
    return Made(T5(), args, other, (TEXT, target))


class DecodeStep(nn.Module):
    """One step of decoding: the new key and value go into buffers at `position`, later ones are masked away."""

    def __init__(self, width=16, heads=2, length=11):
        super().__init__()
        self.heads, self.length = heads, length
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("keys", torch.randn(1, heads, length, width // heads))
        self.register_buffer("values", torch.randn(1, heads, length, width // heads))

    def forward(self, x, position):
        query, key, value = (p.unflatten(2, (self.heads, -1)).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        self.keys.index_copy_(2, position, key)
        self.values.index_copy_(2, position, value)
        keep = (torch.arange(self.length) <= position)[None]
        return self.out(F.scaled_dot_product_attention(query, self.keys, self.values, keep).transpose(1, 2).flatten(2))


@model("kv_cache_step", quick=True)
def kv_cache_step():
    return Made(DecodeStep(), (normal(1, 1, 16), torch.tensor([4])), (normal(1, 1, 16), torch.tensor([7])))


class CacheArguments(nn.Module):
    """The cache as arguments and results, joined with cat along a dynamic length."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(12, 36)

    def forward(self, x, past):
        query, key, value = (p.unflatten(2, (3, -1)).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        key, value = torch.cat((past["key"], key), 2), torch.cat((past["value"], value), 2)
        y = F.scaled_dot_product_attention(query, key, value)
        return {"y": y.transpose(1, 2).reshape(x.shape), "key": key, "value": value}


@model("kv_cache_arguments")
def kv_cache_arguments():
    def arguments(batch, past):
        return normal(batch, 1, 12), {"key": normal(batch, 3, past, 4), "value": normal(batch, 3, past, 4)}

    past = {0: BATCH, 2: dim("past", 1, 50)}
    return Made(CacheArguments(), arguments(2, 5), arguments(3, 8), ({0: BATCH}, {"key": past, "value": past}))
