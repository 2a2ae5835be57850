# SPDX-License-Identifier: MIT
"""Writes graph_only.pt2, a program whose weights are on the meta device, and checkpoint.pt, which has their numbers, as does
checkpoint.safetensors, for tests without torch.

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


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
