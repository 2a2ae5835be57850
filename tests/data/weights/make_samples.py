# SPDX-License-Identifier: MIT
"""Writes graph_only.pt2, a program whose weights are on the meta device, and checkpoint.pt, which has their numbers, as does
checkpoint.safetensors, for tests without torch. products.pt2 has weights of products of many kinds, large_product.pt2 one of 64 MiB, also
on the meta device.

usage: make_samples.py FOLDER
"""
import pathlib
import sys

import torch
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from stack_traces import without_folders  # noqa: E402


class Words(torch.nn.Module):
    """A decoder without attention: 31 words of 18 numbers, tied to the last product, and a stack of 3 experts."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(31, 18)
        self.norm = torch.nn.LayerNorm(18)
        self.qkv_proj = torch.nn.Linear(18, 27)
        self.experts = torch.nn.ParameterDict({"down_proj": torch.nn.Parameter(torch.zeros(3, 18, 27))})
        self.lm_head = torch.nn.Linear(18, 31, bias=False)
        self.lm_head.weight = self.embed_tokens.weight
        self.register_buffer("scale", torch.ones(18))
        self.register_buffer("positions", torch.zeros(18), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.embed_tokens(ids)) * self.scale + self.positions
        wide = self.qkv_proj(x)
        return self.lm_head(sum(torch.nn.functional.linear(wide, self.experts["down_proj"][i]) for i in range(3)))


class Products(torch.nn.Module):
    """Each result is the product of another weight: what becomes integers, and what does not."""

    def __init__(self) -> None:
        super().__init__()
        linear = torch.nn.Linear
        self.embed = torch.nn.Embedding(37, 64)
        self.head = linear(64, 37, bias=False)
        self.head.weight = self.embed.weight
        self.places = torch.nn.Embedding(11, 72)
        self.gemm = linear(96, 33)
        self.wide = linear(50, 40, bias=False)
        self.twice = linear(64, 64, bias=False)
        self.small = linear(3, 5)
        parameters = {
            "right_weight": (600, 7), "added_weight": (64, 64), "returned_weight": (64, 48), "left_weight": (40, 160),
            "stack_weight": (3, 64, 20), "vector_weight": (64, 24), "empty_weight": (0, 64),
        }
        for name, sizes in parameters.items():
            self.register_parameter(name, torch.nn.Parameter(torch.zeros(sizes)))
        self.narrow_weight = torch.nn.Parameter(torch.zeros(48, 64, dtype=torch.float16))

    def forward(self, ids: torch.Tensor, x: torch.Tensor) -> dict[str, torch.Tensor]:
        e = self.embed(ids)
        return {
            "looked_up": e,
            "head": self.head(e),
            "places": self.places(ids % 11),
            "gemm": self.gemm(x[:, :96]),
            "wide": self.wide(e[..., :50]),
            "twice": self.twice(self.twice(e)) * 2,
            "small": self.small(x[:, :3]),
            "empty": torch.nn.functional.linear(e, self.empty_weight),
            "right": x @ self.right_weight,
            "added": e @ self.added_weight + (self.added_weight * ids.sum()).sum(),
            "returned": e @ self.returned_weight,
            "returned_itself": self.returned_weight,
            "left": self.left_weight @ x[:, :160].mT,
            "stack": e[:1] @ self.stack_weight,
            "vector": x[0, :64] @ self.vector_weight,
            "narrow": torch.nn.functional.linear(e, self.narrow_weight.float()),
        }


def main(folder: pathlib.Path) -> None:
    with torch.device("meta"):
        program = torch.export.export(Words().eval(), (torch.zeros(2, 5, dtype=torch.long),))
    program.constants["positions"] = torch.arange(18.0) / 4 - 1
    torch.export.save(without_folders(program), folder / "graph_only.pt2")
    torch.manual_seed(7)
    module = Words()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    module.scale.copy_(torch.linspace(-2, 3, 18))
    torch.save(module.state_dict(), folder / "checkpoint.pt")
    save_file({name: tensor.clone() for name, tensor in module.state_dict().items()}, folder / "checkpoint.safetensors")
    with torch.device("meta"):
        program = torch.export.export(Products().eval(), (torch.zeros(2, 5, dtype=torch.long), torch.zeros(4, 600)))
        torch.export.save(without_folders(program), folder / "products.pt2")
        program = torch.export.export(torch.nn.Linear(4096, 4096, bias=False).eval(), (torch.zeros(1, 4096),))
        torch.export.save(without_folders(program), folder / "large_product.pt2")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
