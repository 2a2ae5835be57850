# SPDX-License-Identifier: MIT
"""torchvision: classification, segmentation, detection, optical flow. 2.13 has no build of its extension for the CPU's torch, so that
detection is made with older releases."""

import importlib.util
import pathlib
import sys
from typing import List  # noqa: UP035: older releases of TorchScript read it

import torch
from nets import RELEASES, net, normal

BOTH = "traced scripted"


class Detections(torch.nn.Module):
    """A detector for the tracer, which cannot return a list of dicts."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, images: List[torch.Tensor]):
        found = self.detector(images)[0]
        return tuple(found[key] for key in sorted(found))


def vision():
    if not importlib.util.find_spec("torchvision"):
        return
    if torch.__version__.startswith(RELEASES[0]):
        sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "models"))
        import zoo_vision  # noqa: F401: declares operators that torchvision needs
    from torchvision import models
    newest, old, oldest = RELEASES[:1], RELEASES[1:], RELEASES[2:]
    def classifier(name):
        return lambda: getattr(models, name)(weights=None)
    for name, ways, releases in (
            ("alexnet", BOTH, newest), ("resnet18", BOTH, RELEASES), ("resnext50_32x4d", "traced", newest), ("mobilenet_v2", BOTH, RELEASES),
            ("mobilenet_v3_small", BOTH, newest), ("squeezenet1_1", BOTH, newest), ("shufflenet_v2_x0_5", BOTH, RELEASES), ("mnasnet0_5", BOTH, newest),
            ("efficientnet_b0", BOTH, RELEASES[:2]), ("efficientnet_v2_s", "traced", newest), ("regnet_y_400mf", BOTH, newest),
            ("densenet121", BOTH, RELEASES[:2]), ("googlenet", BOTH, RELEASES[::2]), ("convnext_tiny", "traced", newest)):
        net(f"torchvision.{name}", classifier(name), ways=ways, releases=releases, **normal("n", 3, 64, 64))
    net("torchvision.inception_v3", lambda: models.inception_v3(weights=None, init_weights=False), ways=BOTH, releases=newest, **normal("n", 3, 96, 96))
    net("torchvision.swin_t", classifier("swin_t"), ways=BOTH, releases=RELEASES[::2], **normal("n", 3, 64, 64))
    net("torchvision.swin_v2_t", classifier("swin_v2_t"), releases=newest, **normal("n", 3, 64, 64))
    net("torchvision.maxvit", lambda: models.MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 8, 0.0), releases=newest, **normal("n", 3, 64, 64))
    net("torchvision.vision_transformer", lambda: models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10), ways=BOTH, **normal("n", 3, 32, 32))
    net("torchvision.r3d_18", lambda: models.video.r3d_18(weights=None), releases=newest, **normal("n", 3, 4, 32, 32))
    for name, ways, releases in (("fcn_resnet50", BOTH, newest), ("deeplabv3_mobilenet_v3_large", BOTH, RELEASES[:2]), ("lraspp_mobilenet_v3_large", BOTH, RELEASES[::2])):
        build = lambda name=name: getattr(models.segmentation, name)(weights=None, weights_backbone=None, num_classes=3)  # noqa: E731
        net(f"torchvision.{name}", build, ways=ways, releases=releases, **normal("n", 3, 64, 64))
    net("torchvision.raft_small", lambda: models.optical_flow.raft_small(weights=None), lambda e: (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128)),
        releases=newest)
    def varied(model, images):
        """With layers whose results have a deviation of 1 for these images. Otherwise, the scores of all boxes are the same but for rounding, and
        so is their order."""
        done = set()
        def rescale(layer, _, output):
            if layer in done: # a head is called for each level of the pyramid
                return output
            done.add(layer)
            deviation = output.std().clamp(min=1e-6)
            for each in (layer.weight, layer.bias):
                if each is not None:
                    each.div_(deviation)
            return output / deviation
        layers = [each for each in model.modules() if isinstance(each, (torch.nn.Conv2d, torch.nn.Linear))]
        for each in layers:
            torch.nn.init.normal_(each.weight)
        hooks = [each.register_forward_hook(rescale) for each in layers]
        with torch.no_grad():
            model.eval()(images)
        for each in hooks:
            each.remove()
        return model
    def detector(name, **options):
        return lambda: varied(getattr(models.detection, name)(weights=None, weights_backbone=None, num_classes=4, min_size=64, max_size=64, **options), [torch.rand(3, 64, 64)])
    def images(example):
        return ([torch.rand(3, 64, 64)],)
    def boxes(example):
        return ([torch.rand(3, 320, 320)],)
    few = {"box_detections_per_img": 5, "rpn_post_nms_top_n_test": 12, "rpn_pre_nms_top_n_test": 20}
    def ssdlite():
        return varied(models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4, topk_candidates=12, detections_per_img=5), [torch.rand(3, 320, 320)])
    for name, build, inputs, releases in (
            ("fasterrcnn", detector("fasterrcnn_mobilenet_v3_large_fpn", **few), images, old), ("maskrcnn", detector("maskrcnn_resnet50_fpn", **few), images, oldest),
            ("retinanet", detector("retinanet_resnet50_fpn", detections_per_img=5, topk_candidates=12), images, old),
            ("fcos", detector("fcos_resnet50_fpn", detections_per_img=5, topk_candidates=12), images, oldest), ("ssdlite", ssdlite, boxes, old)):
        net(f"torchvision.{name}", build, inputs, "scripted", releases=releases)
        net(f"torchvision.{name}", lambda build=build: Detections(build()), inputs, "traced", releases=releases)


vision()
