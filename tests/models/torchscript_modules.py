# SPDX-License-Identifier: MIT
"""The modules of torchscript.py: hand-made ones for each part of TorchScript's language, and small models of other packages."""

import dataclasses
import importlib.util
from collections.abc import Callable
from typing import Dict, List, NamedTuple, Optional, Tuple  # noqa: UP035: torch.jit.script reads these

import torch
import torch.nn.functional as F
from torch import Tensor, nn

BOTH = ("traced", "scripted")


@dataclasses.dataclass
class Case:
    name: str
    make: Callable[[], tuple]  # the module, its inputs, and other inputs
    ways: tuple = BOTH
    dynamic: dict = dataclasses.field(default_factory=dict)  # the dynamic axes by input
    refused: str = ""  # a part of the message; the archive cannot be exported
    line: str = ""  # the line of its file that the message must name
    refused_dynamic: bool = False  # only with the dynamic axes


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(6 * 16, 5)

    def forward(self, x):
        return self.fc(self.drop(torch.flatten(self.net(x), 1)))


class Views(nn.Module):
    """In-place writes through views."""

    def forward(self, x):
        y = x.view(x.size(0), -1) * 1.0
        y[:, 0] = 3
        y[0, 1:] += 2
        z = y.t()[2:4]
        z.mul_(2)
        z[1].fill_(0.5)
        return y, z, y.reshape(y.shape[0] * 2, 4)


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("strided", torch.randn(4, 2).t())
        self.register_buffer("count", torch.zeros(()))
        self.tied = nn.Parameter(torch.randn(4))
        self.same = self.tied
        self.table = torch.tensor([1.5, -2.0, 0.25, 8.0])

    def forward(self, x):
        self.count += 1
        y = x + self.tied * self.same
        return y @ self.strided.t() - self.table.sum(), x[:, :2] / torch.tensor([2.0, 3.0])


class CountedSequences(nn.Module):
    """Numbers of steps and of classes that are computed, also a single step."""

    def forward(self, x):
        steps = x.size(0)
        return (torch.linspace(-1.0, 2.0, steps) + x.sum(), torch.linspace(0.0, 7.0, steps // 2), torch.logspace(0.0, 1.0, steps),
                F.one_hot(torch.argmax(x, 0), steps))


class Assigned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2, 3))

    def forward(self, x):
        before = self.last
        self.last = before * 0.5 + x
        return self.last - before


class Pair(NamedTuple):
    total: Tensor
    parts: Tuple[Tensor, Tensor]


class Containers(nn.Module):
    scale: Dict[str, float]

    def __init__(self):
        super().__init__()
        self.scale = {"a": 1.5, "b": -2.0}
        self.widths = [1, 2]

    def forward(self, x, mask: Optional[Tensor] = None, n: int = 3) -> Tuple[Tensor, Dict[str, Tensor], List[Tensor], Pair]:
        rows: List[Tensor] = []
        for i in range(n):
            rows.append(x * (i + 1))
        if mask is not None:
            x = x + mask
        out = {"x": x}
        for key, factor in self.scale.items():
            out[key] = x * factor
        left, right = x.split(self.widths, dim=1)
        assert x.dim() == 2, f"bad rank {x.dim()}"
        return torch.stack(rows), out, [r.sum() for r in rows], Pair(x.sum(), (left, right))


class Loops(nn.Module):
    def forward(self, x, times: int = 4):
        y = torch.zeros(x.shape, dtype=x.dtype)
        i = 0
        while i < times:
            i += 1
            if i % 2 == 0:
                continue
            y[:, i - 1] = x[:, i - 1] * i
            if i > 100:
                break
        for j, name in enumerate(["b", "aa"]):
            y = y + j * len(name)
        return y, float(times) / 8, i


class Numbers(nn.Module):
    """Arithmetic on sizes, which a dynamic batch keeps symbolic."""

    def forward(self, x):
        b, c = x.shape
        half = c // 2
        y = x.view(b * 2, half).expand(b * 2, half).reshape(-1, c)
        scale = float(c) ** 0.5
        zeros = torch.zeros(b + 1, c - 1)
        return y / scale, torch.cat([zeros, torch.ones(b, c - 1)]), torch.arange(c), x.new_full((b, 2), 0.5), x.mean() * b


class Converted(nn.Module):
    """Numbers of tensors as numbers of another kind."""

    def forward(self, x):
        wide = x[:1, :1]
        many = int((x > 0).all())
        return int(x[0, 0] > 0), many + 1, bool(wide), bool((wide * 0).int()), float(wide > 9), int(wide * 3), bool(int(wide)), bool(wide < 9)


class Pieces(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        rows = x.unbind(1)
        values, order = torch.sort(x, dim=1, descending=True)
        top = torch.topk(x, 2, dim=1)
        return a + b, rows[1] * 2, values, order, top[0], torch.where(x > 0, x, torch.zeros_like(x)), x[:, [0, 2]], x.max(), x.to(torch.float64)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.lstm = nn.LSTM(4, 8, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(16, 5)

    def forward(self, x):
        y, (h, c) = self.lstm(self.embedding(x))
        return self.gru(y)[0], h, c


class Cell(nn.Module):
    """A recurrent network as a loop over its cell."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x):
        h = torch.zeros(x.size(0), 4)
        states: List[Tensor] = []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            states.append(h)
        return torch.stack(states, 1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        y = self.norm(x)
        return x + F.gelu(self.attention(y, y, y)[0])


class Groups(nn.Module):
    def forward(self, pair: Tuple[Tensor, Tensor], rest: List[Tensor], named: Dict[str, Tensor]):
        return pair[0] - pair[1] + rest[0] * rest[1] + named["a"] / named["b"]


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        n = 1
        y = x
        if x.mean() > 0:
            if x.max() > 1.0:
                y = self.linear(x)
            else:
                y, n = x.relu(), 2
        else:
            n = x.size(0)
        if x.size(0) > 2:
            y = y.flip(0)
        return y * n, n


class WhileLoops(nn.Module):
    def forward(self, x):
        y = x.abs() + 0.5
        n = 0
        while y.sum() < 50 and n < 5:
            y = y + 1 if y.max() > 4 else y * 2
            n += 1
        state = (x, y)
        for i in range(x.size(0)):
            state = (state[0] * 0.5 + i, state[1] - state[0])
        for i in range(int(x.abs().max()) + 1):
            if bool((state[0] > 3).all()):
                break
            state = (state[0] + i, state[1])
        return state, n


class Texts(nn.Module):
    """Methods of strings, and slices of lists."""

    def forward(self, x):
        name = "model.layer1.weight"
        parts = name.split(".")
        numbers = [name.find("layer"), "abc".find("c"), "abc".find("z"), name.rfind("e"), len(parts), len(" a  b ".split()), len("a,,b".split(","))]
        y = x * len(".".join(parts[::-1]).upper().strip("M").replace("LAYER", "x"))
        if name.endswith("weight") and name.startswith("model") and not name.endswith("bias") and "7".isdigit():
            y = y + 1
        for n in numbers[-2:0:-2]:
            y = y * 3 + n
        return y, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]


class Weak(nn.Module):
    """Python's numbers beside tensors without dimensions, and beside integers."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(0.5, dtype=torch.float64))

    def forward(self, x):
        half = (x[0, 0] * 8).round().half()
        return x.sum() * 0.5, half * 0.25 + 1, x.long() / 2, x.long() + 0.5, 1.5 * x.long().sum(), x * self.scale, x.long() * self.scale, x.sum() * self.scale


class Warned(nn.Module):
    """A flag that does not matter."""

    def __init__(self):
        super().__init__()
        self.warned = False
        self.kept = [torch.ones(3), torch.zeros(3)]

    def forward(self, x):
        if not self.warned:
            self.warned = True
        self.kept = [each.to(x.dtype) for each in self.kept]
        return x + self.kept[0]


class Scores(nn.Module):
    """Returns a result that no operator of ONNX computes."""

    def forward(self, x):
        q = x[None, None]
        return torch._scaled_dot_product_flash_attention_for_cpu(q, q, q)


class Endless(nn.Module):
    def forward(self, x):
        i = 0
        while i >= 0:
            i = 1 - i
        return x * i


def normal(*sizes):
    return lambda: torch.randn(*sizes)


def case(name, build, one, other=None, dynamic=None, argument="x", **options):
    """`one` and `other` are functions for the only input."""
    def make():
        return build().eval(), {argument: one()}, {argument: (other or one)()}
    return Case(name, make, dynamic={argument: dynamic} if dynamic else {}, **options)


def groups():
    def inputs():
        return {"pair": (torch.randn(3), torch.randn(3)), "rest": [torch.randn(3), torch.randn(3)],
                "named": {"a": torch.randn(3), "b": torch.rand(3) + 1}}
    return Groups(), inputs(), inputs()


def hand_made():
    def indices(*sizes):
        return lambda: torch.randint(0, 10, sizes)
    def layer():
        return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return [
        case("convolutions", Convolutions, normal(1, 3, 8, 8), normal(3, 3, 8, 8), (0,)),
        case("views", Views, normal(2, 8)),
        case("buffers", Buffers, normal(3, 4), normal(5, 4), (0,), ways=("scripted",)),
        case("counted_sequences", CountedSequences, normal(3, 4), normal(7, 4), (0,)),
        case("counted_sequences_of_one", CountedSequences, normal(3, 4), normal(1, 4), (0,)),
        case("assigned", Assigned, normal(2, 3)),
        case("containers", Containers, normal(2, 3), normal(4, 3), (0,), ways=("scripted",)),
        case("loops", Loops, normal(2, 4), normal(3, 4), (0,), ways=("scripted",)),
        case("numbers", Numbers, normal(2, 6), normal(5, 6), (0,)),
        case("converted", Converted, normal(2, 6), lambda: torch.rand(5, 6) / 2 + 1, (0,), ways=("scripted",)),
        case("pieces", Pieces, normal(2, 4), normal(3, 4), (0,)),
        case("recurrent", Recurrent, indices(2, 3), indices(4, 3), (0,)),
        case("cell", Cell, normal(2, 5, 3), normal(3, 5, 3), (0,)),
        case("attention", Attention, normal(2, 5, 16), normal(3, 5, 16), (0,)),
        case("encoder", layer, normal(2, 5, 16), normal(3, 5, 16), (0,), argument="src"),
        Case("groups", groups, ways=("scripted",)),
        case("branches", Branches, normal(2, 4), lambda: torch.rand(5, 4) * 3, (0,), ways=("scripted",)),
        case("small_branches", Branches, lambda: torch.rand(3, 4) / 2, lambda: -torch.rand(4, 4), (0,), ways=("scripted",)),
        case("while_loops", WhileLoops, normal(2, 4), lambda: torch.randn(5, 4) * 3, (0,), ways=("scripted",)),
        case("texts", Texts, normal(2, 3), normal(3, 3), (0,), ways=("scripted",)),
        case("weak", Weak, normal(2, 3), normal(3, 3), (0,)),
        case("warned", Warned, normal(2, 3), normal(3, 3), (0,), ways=("scripted",)),
        case("scores", Scores, normal(2, 3), ways=("scripted",), refused="does not compute '_scaled_dot_product"),
        case("endless", Endless, normal(2, 3), ways=("scripted",), refused="needs more than", line="while i >= 0:"),
    ]


def of_packages():
    """The cases, and the names of missing packages."""
    out, missing = [], []
    if importlib.util.find_spec("torchvision"):
        import zoo_vision  # noqa: F401: declares operators that torchvision needs
        import torchvision.models as vision
        for name, size in (("alexnet", 64), ("resnet18", 64), ("mobilenet_v2", 64), ("mobilenet_v3_small", 64), ("squeezenet1_0", 64),
                           ("shufflenet_v2_x0_5", 64), ("mnasnet0_5", 64), ("efficientnet_b0", 64), ("regnet_y_400mf", 64),
                           ("densenet121", 64), ("googlenet", 64), ("swin_t", 64), ("convnext_tiny", 64)):
            def build(name=name):
                return getattr(vision, name)(weights=None)
            out.append(case(name, build, normal(1, 3, size, size), normal(2, 3, size, size), (0,)))
        def small_vit():
            return vision.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10)
        out.append(case("vision_transformer", small_vit, normal(1, 3, 32, 32), normal(2, 3, 32, 32), (0,)))
    else:
        missing.append("torchvision")
    if importlib.util.find_spec("transformers"):
        import transformers
        sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 100}
        def language(build):
            def make():
                def inputs(batch):
                    return {"input_ids": torch.randint(0, 90, (batch, 7)), "attention_mask": torch.ones(batch, 7, dtype=torch.int64)}
                return build().eval(), inputs(2), inputs(3)
            return make
        for name, build in (
                ("bert", lambda: transformers.BertModel(transformers.BertConfig(**sizes))),
                ("albert", lambda: transformers.AlbertModel(transformers.AlbertConfig(**sizes, embedding_size=16))),
                ("distilbert", lambda: transformers.DistilBertModel(transformers.DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100))),
                ("gpt2", lambda: transformers.GPT2Model(transformers.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100, use_cache=False)))):
            out.append(Case(name, language(build), ways=("traced",), dynamic={"input_ids": (0,), "attention_mask": (0,)}))
    else:
        missing.append("transformers")
    return out, missing
