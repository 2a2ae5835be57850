# SPDX-License-Identifier: MIT
"""Forward functions with dynamic sizes, and those that write to buffers, parameters and inputs."""
import torch

from functionalize_case import case

# Sizes that are only known at run time.

@case((5, 4), (5, 3), dynamic=[0, 1])
def a_dynamic_batch(m, x, y):
    h = x * 2
    h[:, 1:] += y
    h[0] = 9
    a, b = h.chunk(2, dim=1)
    b.mul_(a)
    h.view(-1)[3] = 50
    return h, a


@case((5, 6, 4), dynamic=[0], empty=True)
def groups_of_a_batch_that_may_be_empty(m, x):
    return torch.nn.functional.group_norm(x, 2), torch.nn.functional.group_norm(x.double(), 3)


@case((6, 2), dynamic=[0])
def pools_whose_last_window_may_start_in_the_padding(m, x):
    # With stride 4, that of 6 and of 9 elements does, and is dropped; with stride 3 it does not.
    from torch.nn.functional import avg_pool2d, max_pool2d

    x = x.t()[None, None]
    out = []
    for stride in (3, 4):
        windows = (1, 2), (1, stride), (0, 1)
        out += [max_pool2d(x, *windows, ceil_mode=True), avg_pool2d(x, *windows, True, True, 7)]
        out += [avg_pool2d(x, *windows, True, counted) for counted in (True, False)]
    return out


@case((6, 2, 3), dynamic=[0])
def dynamic_reshapes(m, x):
    h = x * 2
    n = x.shape[0]
    flat = h.view(n * 2, 3)
    flat[1::2] -= 1
    h.permute(1, 0, 2).flatten(1)
    h.reshape(n, -1)[:, 4] = 7
    h.view(-1, 6).t()[0] *= 2
    return h, flat, h.transpose(0, 1).reshape(2, -1)


@case((6, 3), (4, 3), dynamic=[0, 1])
def a_dynamic_part(m, x, y):
    out = torch.zeros(x.shape[0] + y.shape[0], 3)
    out[: x.shape[0]] = x
    out[x.shape[0]:] = y * 2
    out.narrow(0, x.shape[0], 2).sub_(1)
    return out


@case((6, 5), dynamic=[0])
def dynamic_chunks_along_the_batch(m, x):
    h = x * 2
    a, b = h.split([x.shape[0] - 2, 2])
    a.add_(1)
    b.mul_(a[:2])
    return h, b


# Buffers, parameters and inputs.

@case((2, 3), buffers=lambda: dict(count=torch.tensor(7), state=torch.arange(6.0).view(2, 3)))
def buffers_change(m, x):
    m.count.add_(2)
    m.state[1] += x[0]
    old = m.state.clone()
    m.state.mul_(0.5)
    return x + m.state, old, m.count * 2


@case((1, 2, 2, 3), (2,), dtypes=[torch.float32, torch.int64], low=1, high=4,
      buffers=lambda: dict(k=torch.randn(1, 2, 5, 3), used=torch.zeros(1, dtype=torch.int64)))
def a_cache(m, x, place):
    m.k.index_copy_(2, place + torch.tensor([0, 1]) - torch.tensor([1, 0]), x)
    m.k[:, :, 0] = 0.5
    m.used += x.shape[2]
    return m.k.sum(2), m.used + 1


@case((2, 3), buffers=lambda: dict(state=torch.ones(3)))
def a_buffer_is_assigned(m, x):
    m.state = m.state * 0.75 + x.mean(0)
    y = m.state * 2
    m.state[0] = 5
    return y


@case((2, 4), buffers=lambda: dict(ring=torch.arange(12.0).view(3, 4)))
def a_ring_buffer(m, x):
    m.ring[:-1] = m.ring[1:].clone()
    m.ring[-1] = x[1]
    return m.ring.mean(0)


@case((2, 3), (2, 3))
def inputs_change(m, x, y):
    x.add_(y)
    y[:, 1] = x[:, 0]
    return x * 2


@case((2, 3), buffers=lambda: dict(whole=torch.arange(6.0), part=torch.zeros(2)))
def no_grad_writes(m, x):
    with torch.no_grad():
        m.part.copy_(x[:, 0])
        h = x * 2
        h[0].add_(m.whole[:3])
    m.whole[4:] = m.part
    return h, m.whole.sum()


@case((4, 3, 5), buffers=lambda: dict(bn=torch.nn.BatchNorm1d(3, momentum=0.3).train()))
def batch_norm_trains(m, x):
    y = m.bn(x)
    return m.bn(y * 2) + m.bn.running_mean.view(1, 3, 1)


@case((4, 3, 5, 2), buffers=lambda: dict(norm=torch.nn.InstanceNorm2d(3, momentum=0.3, affine=True,
                                                                      track_running_stats=True).train()))
def instance_norm_trains(m, x):
    return m.norm(x)


@case((4, 3, 5), dynamic=[0], buffers=lambda: dict(norm=torch.nn.InstanceNorm1d(3, track_running_stats=True).train()))
def instance_norm_trains_on_a_dynamic_batch(m, x):
    return m.norm(x)


@case((2, 3), buffers=lambda: dict(fc=torch.nn.Linear(3, 3)))
def autocast_that_is_off(m, x):
    with torch.autocast("cpu", enabled=False):
        h = m.fc(x)
        h[0] = 1
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        h.t().mul_(2)
    return h


@case((2, 3, 4))
def nothing_is_written(m, x):
    return x.t() if x.dim() == 2 else x.permute(2, 0, 1).reshape(4, -1)


@case((2, 3), buffers=lambda: dict(eye=torch.eye(3)))
def autocast_that_casts(m, x):
    with torch.autocast("cpu", dtype=torch.float16):
        return torch.mm(x.round(), m.eye).float()  # ONNX Runtime drops the rounding between casts


# Refused.

@case((4, 4), refused="aten::unfold")
def windows_are_written_to(m, x):
    h = x * 2
    h.unfold(0, 2, 2).mul_(3)
    return h
