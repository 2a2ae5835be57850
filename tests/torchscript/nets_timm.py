# SPDX-License-Identifier: MIT
"""timm: image models, small ones of each kind."""

import importlib.util

from nets import RELEASES, net, normal

BOTH = "traced scripted"


def images():
    if not importlib.util.find_spec("timm"):
        return
    import timm
    newest, oldest = RELEASES[:1], RELEASES[2:]
    def build(name, options):
        return lambda: timm.create_model(name, pretrained=False, num_classes=10, **options)
    for name, size, ways, releases, options in (
            ("resnet10t", 64, BOTH, newest, {}), ("mobilenetv3_small_050", 64, BOTH, RELEASES, {}), ("efficientnet_lite0", 64, "traced", newest, {}),
            ("tf_efficientnet_b0", 64, BOTH, RELEASES[1:], {}), ("regnetx_002", 64, BOTH, newest, {}), ("ghostnet_050", 64, "traced", RELEASES[:2], {}),
            ("convnext_atto", 64, BOTH, RELEASES, {}), ("mixnet_s", 64, "traced", newest, {}), ("dla34", 64, "traced", oldest, {}),
            ("hrnet_w18_small", 64, "traced", newest, {}), ("res2net50_14w_8s", 64, "traced", newest, {}), ("resnest14d", 64, "traced", oldest, {}),
            ("skresnet18", 64, "traced", RELEASES[1:2], {}), ("ese_vovnet19b_slim", 64, "traced", newest, {}), ("repvgg_a0", 64, "traced", newest, {}),
            ("vit_tiny_patch16_224", 64, BOTH, RELEASES, {"img_size": 64, "depth": 2}), ("deit_tiny_patch16_224", 64, BOTH, RELEASES[1:], {"img_size": 64, "depth": 2}),
            ("mixer_s32_224", 64, "traced", newest, {"img_size": 64}), ("resmlp_12_224", 64, "traced", RELEASES[1:2], {"img_size": 64}),
            ("levit_128s", 224, "traced", newest, {}), ("poolformer_s12", 64, "traced", newest, {}), ("edgenext_xx_small", 64, "traced", RELEASES[:2], {}),
            ("mobilevit_xxs", 64, "traced", newest, {}), ("coat_lite_tiny", 64, "traced", RELEASES[1:2], {"img_size": 64}), ("pit_ti_224", 224, "traced", oldest, {}),
            ("cait_xxs24_224", 64, "traced", oldest, {"img_size": 64, "depth": 2}), ("crossvit_tiny_240", 240, "traced", oldest, {}),
            ("visformer_tiny", 224, "traced", newest, {}), ("xcit_nano_12_p16_224", 64, "traced", newest, {"img_size": 64, "depth": 2}),
            ("beit_base_patch16_224", 64, "traced", RELEASES[1:2], {"img_size": 64, "depth": 1, "embed_dim": 48, "num_heads": 3}),
            ("swin_tiny_patch4_window7_224", 224, "traced", oldest, {"embed_dim": 24, "depths": (1, 1), "num_heads": (1, 2)}),
            ("fastvit_t8", 64, "traced", newest, {}), ("efficientformer_l1", 224, "traced", oldest, {})):
        net(f"timm.{name}", build(name, options), ways=ways, releases=releases, **normal("n", 3, size, size))


images()
