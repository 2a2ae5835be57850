# SPDX-License-Identifier: MIT
"""Trains the demo's model: a small convolutional classifier of scikit-learn's handwritten digits (8 x 8 pixels, 0 to
16).

    train.py [FOLDER]      writes digits.pt2, test_digits.npz and accuracy.json there (default: here)

digits.pt2 is written by torch.export.save, with a dynamic batch. test_digits.npz holds the quarter of the digits that
is not used for training: images [n, 8, 8] uint8, labels [n] uint8. Needs torch and scikit-learn."""

import json
import pathlib
import re
import sys

import numpy
import sklearn
import torch
from sklearn.datasets import load_digits
from torch import nn

SEED = 20


class Digits(nn.Module):
    """Takes pixels from 0 to 16 and returns the logarithms of ten probabilities."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 48, 3, padding=1, bias=False), nn.BatchNorm2d(48), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )  # fmt: skip
        self.classifier = nn.Sequential(nn.Dropout(0.3), nn.Linear(48 * 4, 10))

    def forward(self, image):
        x = self.features(image / 16.0)
        return torch.log_softmax(self.classifier(x.flatten(1)), dim=1)


def split():
    """Training and held-out digits: a shuffle that depends only on the seed."""
    images, labels = load_digits(return_X_y=True)
    order = numpy.random.default_rng(SEED).permutation(len(labels))
    images, labels = images.reshape(-1, 8, 8).astype(numpy.uint8)[order], labels.astype(numpy.uint8)[order]
    held_out = len(labels) // 4
    return (images[held_out:], labels[held_out:]), (images[:held_out], labels[:held_out])


def as_batch(images):
    return torch.from_numpy(images.astype(numpy.float32))[:, None]


def train(model, images, labels, epochs=40, batch=64):
    x, y = as_batch(images), torch.from_numpy(labels.astype(numpy.int64))
    steps = epochs * -(-len(y) // batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)
    model.train()
    for _ in range(epochs):
        for chosen in torch.randperm(len(y)).split(batch):
            optimizer.zero_grad()
            nn.functional.nll_loss(model(x[chosen]), y[chosen]).backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def without_folders(program):
    """Stack traces name files as "train.py" and "torch/nn/modules/conv.py", wherever they are on this machine."""
    for node in program.graph.nodes:
        if "stack_trace" in node.meta:
            node.meta["stack_trace"] = re.sub(
                r'File "[^"]*?/(?:site-packages/)?((?:torch/[^"]*)|[^"/]+)"', r'File "\1"', node.meta["stack_trace"]
            )
    return program


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    torch.manual_seed(SEED)
    (images, labels), (test_images, test_labels) = split()
    model = train(Digits(), images, labels)
    with torch.no_grad():
        right = int((model(as_batch(test_images)).argmax(1).numpy() == test_labels).sum())
        program = torch.export.export(
            model, (as_batch(test_images[:2]),), dynamic_shapes=({0: torch.export.Dim("batch", max=10000)},)
        )
    torch.export.save(without_folders(program), folder / "digits.pt2")
    numpy.savez_compressed(folder / "test_digits.npz", images=test_images, labels=test_labels)
    facts = {"right": right, "digits": len(test_labels), "accuracy": round(right / len(test_labels), 4),
             "parameters": sum(p.numel() for p in model.parameters()),
             "torch": torch.__version__.split("+")[0], "scikit-learn": sklearn.__version__}  # fmt: skip
    (folder / "accuracy.json").write_text(json.dumps(facts, indent=4) + "\n", encoding="utf-8")
    print(facts)


if __name__ == "__main__":
    main()
