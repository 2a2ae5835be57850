# SPDX-License-Identifier: MIT
"""Training steps: programs that compute a loss and the gradients of all parameters."""

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Made, dim, ids, model, normal

BATCH = dim("batch", least=2)


class Step(nn.Module):
    """The loss that a module returns, followed by its gradients; torch.export gets the module alone."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def train(self, mode=True):
        """Always in training mode."""
        return super().train(True)

    def forward(self, *args):
        with torch.enable_grad():
            loss = self.module(*args)
            return (loss.detach(), *torch.autograd.grad(loss, list(self.module.parameters())))


class Loss(nn.Module):
    def __init__(self, net, loss):
        super().__init__()
        self.net = net
        self.loss = loss

    def forward(self, x, target):
        return self.loss(self.net(x), target)


def step(net, loss, args, other):
    return Made(Step(Loss(net, loss)), args, other, ({0: BATCH}, {0: BATCH}), training=True)


@model("training_mlp")
def training_mlp():
    net = nn.Sequential(
        nn.Embedding(11, 6, padding_idx=2),
        nn.Linear(6, 8),
        nn.LayerNorm(8),
        nn.GELU(),
        nn.Linear(8, 8),
        nn.Softplus(),
        nn.Linear(8, 5),
        nn.SiLU(),
    )
    return step(net, F.cross_entropy, (ids(6, below=11), ids(6, below=5)), (ids(9, below=11), ids(9, below=5)))


@model("training_cnn")
def training_cnn():
    net = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, bias=False),  # whose gradient would be rounding errors of 0
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2),
        nn.GroupNorm(2, 6),
        nn.Hardswish(),
        nn.AvgPool2d(3, 1, 1, count_include_pad=False),
        nn.ConvTranspose2d(6, 4, 3, 2, dilation=2, output_padding=1),
        nn.LeakyReLU(0.1),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16, 3),
        nn.Tanh(),
    )
    return step(net, F.mse_loss, (normal(2, 2, 9, 12), normal(2, 3)), (normal(5, 2, 9, 12), normal(5, 3)))
