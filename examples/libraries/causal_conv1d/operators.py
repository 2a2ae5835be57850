# SPDX-License-Identifier: MIT
"""The causal convolution of causal-conv1d, over a whole sequence and one step at a time. Both write into tensors of the caller."""

import torch

NAMESPACE = "DaoAILab"
SCHEMAS = """
_causal_conv1d_fwd_cpp(Tensor x, Tensor weight, Tensor? bias, Tensor? seq_idx, Tensor? initial_states, Tensor(a!) out, Tensor(b!)? final_states_out, bool silu_activation) -> ()
_causal_conv1d_update_cpp(Tensor x, Tensor(a!) conv_state, Tensor weight, Tensor? bias, Tensor(b!) out, bool silu_activation, Tensor? cache_seqlens, Tensor? conv_state_indices) -> ()
"""


def convolved(x, weight, bias, silu):
    y = torch.nn.functional.conv1d(x, weight.unsqueeze(1), bias, groups=weight.shape[0])
    return torch.nn.functional.silu(y) if silu else y


def _causal_conv1d_fwd_cpp(x, weight, bias, seq_idx, initial_states, out, final_states_out, silu_activation):
    assert seq_idx is None
    width = weight.shape[1]
    before = x.new_zeros(x.shape[0], x.shape[1], width - 1) if initial_states is None else initial_states
    whole = torch.cat([before, x], -1)
    out.copy_(convolved(whole, weight, bias, silu_activation))
    if final_states_out is not None:
        final_states_out.copy_(whole[..., x.shape[-1] :])


def _causal_conv1d_update_cpp(x, conv_state, weight, bias, out, silu_activation, cache_seqlens, conv_state_indices):
    """x: (batch, d), or (batch, d, steps). With conv_state_indices, the states of the batch are some of those in conv_state."""
    assert cache_seqlens is None
    steps = x.unsqueeze(-1) if x.dim() == 2 else x
    state = conv_state if conv_state_indices is None else conv_state[conv_state_indices]
    whole = torch.cat([state, steps], -1)
    y = convolved(whole[..., whole.shape[-1] - steps.shape[-1] - weight.shape[1] + 1 :], weight, bias, silu_activation)
    out.copy_(y.view(x.shape))
    after = whole[..., steps.shape[-1] :].clone()
    if conv_state_indices is None:
        conv_state.copy_(after)
    else:
        conv_state[conv_state_indices] = after


class Model(torch.nn.Module):
    """Reads a prompt and takes two further steps from the state that it leaves; and one with a cache of many sequences."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(torch.randn(4, 3)), torch.nn.Parameter(torch.randn(4))

    def forward(self, x, step, cache, slots):
        ops = torch.ops.DaoAILab
        first, state = torch.empty_like(x), x.new_empty(x.shape[0], 4, 2)
        ops._causal_conv1d_fwd_cpp(x, self.weight, self.bias, None, None, first, state, True)
        second = torch.empty_like(x)
        ops._causal_conv1d_fwd_cpp(first, self.weight, None, None, state, second, None, False)
        ys = []
        for _ in range(2):
            y = torch.empty_like(step)
            ops._causal_conv1d_update_cpp(step, state, self.weight, self.bias, y, False, None, None)
            step = y.tanh()
            ys.append(y)
        cached, y = cache.clone(), torch.empty_like(step)
        ops._causal_conv1d_update_cpp(step, cached, self.weight, None, y, True, None, slots)
        return second, torch.stack(ys), state, cached, y


SIZES = (2, 4)
batch = torch.export.Dim("batch", max=100)
DYNAMIC = {"x": {0: batch, 2: torch.export.Dim("length", max=1000)}, "step": {0: batch}, "cache": None, "slots": {0: batch}}


def inputs(size):
    slots = torch.randperm(6, dtype=torch.int32)[:size]
    return {"x": torch.randn(size, 4, 3 * size), "step": torch.randn(size, 4), "cache": torch.randn(6, 4, 5), "slots": slots}


def calls():
    ops = torch.ops.DaoAILab
    for count, d, width, steps in ((2, 3, 4, 5), (1, 2, 2, 7), (3, 1, 3, 1)):
        x, weight, bias = torch.randn(count, d, steps), torch.randn(d, width), torch.randn(d)
        states = torch.randn(count, d, width - 1)
        for silu in (False, True):
            ops._causal_conv1d_fwd_cpp(x, weight, bias, None, None, torch.zeros_like(x), torch.zeros_like(states), silu)
            ops._causal_conv1d_fwd_cpp(x, weight, None, None, states, torch.zeros_like(x), torch.ones_like(states), silu)
            cache, out = torch.randn(count, d, width), torch.zeros(count, d)
            ops._causal_conv1d_update_cpp(x[..., 0].contiguous(), cache.clone(), weight, bias, out, silu, None, None)
            ops._causal_conv1d_update_cpp(x, cache.clone(), weight, None, torch.zeros_like(x), silu, None, None)
            slots = torch.randperm(7, dtype=torch.int32)[:count]
            ops._causal_conv1d_update_cpp(x, torch.randn(7, d, width + 1), weight, bias, torch.zeros_like(x), silu, None, slots)
