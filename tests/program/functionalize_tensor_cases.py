# SPDX-License-Identifier: MIT
"""Forward functions that write to tensors that they compute: in place, through views, by index, to out arguments."""
import torch
import torch.nn.functional as F

from functionalize_case import case

# In-place operators on a whole tensor, read through its aliases.

@case((3, 4), (3, 4))
def read_before_and_after(m, x, y):
    h = x * 2
    before = h + 1
    alias = h.detach()
    h.add_(y, alpha=3)
    after = alias - 1
    h.mul_(0.5)
    return before, after, alias, h


@case((2, 5))
def a_view_made_before_the_write(m, x):
    h = x + 1
    row, column = h[1], h[:, 2]
    h.mul_(3)
    return row, column * 2, h.t()


@case((2, 5))
def a_write_to_one_view_seen_by_another(m, x):
    h = x + 1
    row, column = h[1], h[:, 2]
    row.add_(10)
    column.mul_(2)
    row.sub_(1)
    return h, row, column


@case((2, 5))
def writes_in_the_other_order(m, x):
    h = x + 1
    row, column = h[1], h[:, 2]
    column.mul_(2)
    row.add_(10)
    return h, column, row


@case((3, 4))
def relu_and_friends(m, x):
    h = x * 1.5
    F.relu(h, inplace=True)
    h.clamp_(max=2.5).sqrt_()
    F.hardtanh(h, -0.5, 1.25, inplace=True)
    F.leaky_relu(h.sub_(0.5), 0.2, inplace=True)
    return F.elu(h, inplace=True), h


@case((3, 4), (4,), dtypes=[torch.float32, torch.float64])
def another_dtype_does_not_promote(m, x, y):
    h = x + 1
    h.add_(y)
    h.mul_(torch.tensor(1.25, dtype=torch.float64))
    return h


@case((3, 4), (3, 1), dtypes=[torch.int32, torch.int64], low=-9, high=9)
def integers_of_several_sizes(m, x, y):
    h = x * 3
    h.sub_(y)
    h[1:].floor_divide_(2)
    h.remainder_(5)
    h.bitwise_and_(6)
    h[:, 3] |= 8
    return h, h.sum()


@case((3, 4), (3, 4))
def comparisons_write_numbers(m, x, y):
    h, k = x + 0, y + 0
    h.gt_(0.25)
    k.logical_and_(h)
    return h, k


@case((3, 4), (3, 4), dtypes=[torch.float16, torch.float32])
def half_and_single(m, x, y):
    h = x * 1
    h += y
    h.copy_(y * 2 + h.float())
    return h


# Parts of a tensor.

@case((2, 5), (2, 4))
def a_slice_plus_something(m, x, y):
    h = x * 2
    h[:, 1:] += y
    return h


@case((4, 6))
def a_slice_with_a_step(m, x):
    h = x * 2
    h[1::2, ::3] = 7
    h[-1, 1:5:2] -= 100
    return h


@case((4, 6), (6,))
def a_row_is_copied(m, x, y):
    h = x * 2
    h[2] = y
    h[-1] = h[0] + h[2]
    return h


@case((3, 3))
def a_flat_element(m, x):
    h = x * 2
    flat = h.view(-1)
    flat[3] = 50
    h[0, 2] = flat[3] + 1
    return h, flat


@case((2, 3, 4))
def views_of_views(m, x):
    h = x + 1
    v = h.transpose(0, 2)[1:3].unsqueeze(1).permute(3, 1, 0, 2)
    v[1, 0, 1] = -9
    v.mul_(2)
    h[0, 0].zero_()
    return h, v, h.flatten(1)


@case((2, 3, 4))
def reshapes_in_a_chain(m, x):
    h = x + 1
    v = h.view(6, 4).reshape(2, 12).unflatten(1, (3, 2, 2)).squeeze(0).flatten(2)
    v[:, 1] *= 10
    h.view(-1, 2)[5] += 1
    return h, v


@case((2, 3, 4))
def a_reshape_that_copies(m, x):
    h = x + 1
    v = h.permute(2, 0, 1).reshape(8, 3)
    v.mul_(100)
    w = h.permute(2, 0, 1).contiguous()
    w.zero_()
    return h, v, w


@case((4, 5))
def chunks_are_written_to(m, x):
    h = x * 2
    a, b = h.chunk(2, dim=1)
    a.mul_(3)
    b.add_(a.sum())
    h[0].neg_()
    return h, a, b


@case((2, 7))
def splits_are_written_to(m, x):
    h = x * 2
    a, b, c = h.split([2, 4, 1], dim=1)
    b += 10
    c.copy_(a[:, :1])
    rows = h.unbind(0)
    rows[1].mul_(2)
    return h, a, b, c, rows[0], rows[1]


@case((4, 3))
def a_diagonal(m, x):
    h = x * 2
    h.diagonal(offset=-1).fill_(5)
    torch.diagonal(h[:3]).mul_(2)
    h.fill_diagonal_(-1)
    return h


@case((11, 3))
def diagonals_that_wrap_and_those_of_cubes(m, x):
    h = x * 2
    h.fill_diagonal_(-1, wrap=True)
    h[1:5].fill_diagonal_(7, wrap=True)
    g = (x @ x.T)[1:9, 1:9].reshape(4, 4, 4)
    g.transpose(0, 2).fill_diagonal_(0.5)
    square = x[:3] + 1
    square.t().fill_diagonal_(5, wrap=True)
    row = x[:1] * 3
    row.fill_diagonal_(2, wrap=True)
    return h, g, square, row


@case((3, 5))
def movedim_and_narrow(m, x):
    h = x * 2
    h.unsqueeze(0).movedim(0, 2).narrow(1, -3, 2).sub_(4)
    h.swapaxes(0, 1)[4] = 1
    return h


@case((2, 6))
def metadata_changes_in_place(m, x):
    h = x * 2
    row = h[1]
    h.t_()
    h.unsqueeze_(0)
    h[0, 2] += 7
    h.squeeze_(0).transpose_(0, 1)
    return h, row


@case((3, 4))
def dropout_in_eval_is_an_alias(m, x):
    h = x + 1
    y = F.dropout(h, 0.5, training=False)
    z = h.to(torch.float32)
    w = h.contiguous()
    y.add_(1)
    z.mul_(3)
    w[0] = 0
    return h, y, z, w


@case((3, 4), dtypes=[torch.float32])
def a_cast_is_a_copy(m, x):
    h = x + 1
    y = h.to(torch.float64)
    z = h.to(torch.float32, copy=True)
    w = h.clone()
    y.zero_()
    z.fill_(2)
    w += 9
    return h, y, z, w


@case((3, 4), (2, 3))
def expand_is_read_after_a_write(m, x, y):
    h = x[:1] * 2
    wide = h.expand(5, 4)
    first, other = torch.broadcast_tensors(h[:, :1], y)
    h.add_(1)
    return wide, first + other, h.expand_as(x)


@case((2, 3))
def einsum_gives_a_view(m, x):
    h = x * 2
    e = torch.einsum("ij->ji", h)
    h.add_(5)
    return e, h


# By index and by mask.

@case((4, 3), (2,), (2, 3), dtypes=[torch.float32, torch.int64, torch.float32], low=0, high=3)
def rows_by_index(m, x, i, y):
    h = x * 2
    h[i] = y
    h.index_add_(1, i[:1], h[:, :1], alpha=2)
    h.index_fill_(0, i[1:], -5)
    h.index_copy_(0, i[:1], y[1:])
    return h


@case((4, 3), (2,), dtypes=[torch.float32, torch.int64], low=0, high=3)
def index_put_accumulates(m, x, i):
    k = torch.zeros(3, 4).copy_(x.t())
    k.index_put_((i.clamp(max=2), i), torch.tensor(4.5), accumulate=True)
    k.view(-1)[1:].index_put_((i,), torch.tensor([1.0, 2.0]))
    return k


@case((3, 4), (3, 2), (3, 2), dtypes=[torch.float32, torch.int64, torch.float32], low=0, high=3)
def scatters(m, x, i, y):
    h = x * 2
    h.scatter_(1, i, y)
    h.scatter_add_(1, i, y * 10)
    h[1:].scatter_(0, i[:1].clamp(max=1), 3.5)
    return h


@case((3, 4), (3, 4))
def masks(m, x, y):
    h = x * 2
    h.masked_fill_(y > 0, -1.5)
    h[:, :2][y[:, 2:] < 0] = 8
    h[2].masked_fill_(h[1] > 1, 0)
    return h


@case((3, 4))
def triangles_and_sums(m, x):
    h = x * 2
    h[:, 1:].tril_(1)
    h.cumsum_(0)
    return h


@case((3, 4), dtypes=[torch.bool], low=0, high=2)
def bools(m, x):
    h = ~x
    h[1] |= x[0]
    h.logical_not_()
    h[:, 0] = False
    return h


# Results written to existing tensors.

@case((3, 4))
def a_tensor_filled_piece_by_piece(m, x):
    out = torch.zeros(4, 5, dtype=torch.float64)
    for row in range(3):
        out[row + 1, 1:] = x[row] * (row + 1)
    out[0] = out.sum(0)
    out[:, 0] += 1
    return out


@case((2, 3, 4))
def writes_in_a_loop(m, x):
    h = x * 1
    for i in range(3):
        h[:, i] += h.sum() * 0.01
        h[0, :, i] *= 1 + i
    return h


# Empty and 0-d.

@case((3, 4), ())
def scalars_and_empty_tensors(m, x, s):
    total = s * 2
    total += 3
    alias = total.view(1)
    alias *= 2
    h = x + total
    h[2:2] = 100
    h[:, 4:].zero_()
    nothing = h[:0]
    nothing += 1
    return total, alias, h, nothing
