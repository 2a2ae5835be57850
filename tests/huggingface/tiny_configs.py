# SPDX-License-Identifier: MIT
"""Tiny configurations of the model types of transformers: tiny("llama") has two layers of width 32. Sizes are known by the names of
fields; EXCEPTIONS has what a type needs beside them."""

import re

WIDTH, HEADS, LAYERS, WORDS, LENGTH = 32, 4, 2, 99, 64

# The first pattern that matches a whole name decides; the value is used if it is smaller than the default.
SIZES = [
    (r".*vocab_size|vocab_size.*|.*hash_byte_group_vocab", WORDS),
    (r".*(qk_nope|qk_rope|v|index)_head_dim|.*head_dim|d_kv|kv_channels|.*dim_head|d_head|mamba_d_head|linear_(key|value)_head_dim", 8),
    (r"qk_head_dim", 16),
    (r"(q|kv|o)_lora_rank|index_topk|.*_rank", 16),
    (r"num_key_value_heads|.*_num_key_value_heads|num_kv_heads|multi_query_group_num|linear_num_key_heads", 2),
    (r".*attention_heads|n_heads?|num_heads|decoder_n_heads|.*_n_heads|resampler_heads|num_v_heads|mamba_num_heads|.*num_value_heads|index_n_heads", HEADS),
    (r"num_hidden_layers|.*num_hidden_layers|n_layers?|.*_layers|num_layers|layers|depth|num_blocks|num_adapter_layers|.*_depth", LAYERS),
    (r"max_window_layers|first_k_dense_replace", 1),
    (r"(num|n)_(routed_|local_)?experts|moe_num_experts|num_routed_experts", 4),
    (r"num_experts_per_tok(en)?|moe_topk|moe_k|topk_group|top_k_experts", 2),
    (r"n_group|num_expert_group|n_groups", 2),
    (r"moe_(ffn_)?intermediate_size|.*shared_expert_intermediate_size|expert_ffn_hidden_size", 24),
    (r".*intermediate_(size|dim)|.*ffn_dim|mlp_dim|d_ff|.*d_inner|n_inner|.*feedforward_dim|dim_feedforward|dff|dim_ff|.*ffn_hidden_size", 48),
    (r"sliding_window(_size)?|attention_chunk_size|local_attention", 4),
    (r"max_position_embeddings|.*max_position_embeddings|n_positions|max_target_positions|n_ctx|max_seq_len|model_max_length|max_length", LENGTH),
    (r"max_source_positions", 30),
    (r"num_queries|num_query_tokens|resampler_n_latents|num_latents|num_denoising|two_stage_num_proposals", 6),
    (r"num_codevectors_per_group|codebook_size|num_embeddings", 16),
    (r"mamba_expand", 2),
    (r"mamba_n_heads|mamba_n_groups|n_mamba_heads", HEADS),
    (r".*d_state|state_size|chunk_size|mamba_chunk_size", 8),
    (r"num_conv_pos_embeddings|conv_pos_kernel_size", 16),
    (r"num_conv_pos_embedding_groups", 2),
    (r"image_size|.*_image_size|crop_size|input_size", None),  # see image_size()
    (r"(patch|window|kernel|block|chunk|stride|pool|.*kernel|.*patch|.*stride|.*window|.*block|.*chunk|.*roi|.*grid)_size", None),
    (r"(hidden|.*hidden|embedding|.*embedding|out|project(ion|or).*|decoder|encoder|attention|.*proj|fusion|feature|mask_feature|fpn|.*hidden|.*projection|.*embed)_size(_global)?", WIDTH),
    (r"(d_model|n_embd|dim|embed_dim|emb_dim|hidden_dim|.*hidden_dim|.*embed_dim|.*projection_dim|project_dim|.*codevector_dim|.*embedding_dim|.*output_dim|codebook_dim|entity_emb_size|embedding_dimension|context_dim|feat_dim|query_dim|.*word_embed_proj_dim)", WIDTH),
    (r"conv_dim|tdnn_dim|xvector_output_dim|.*hidden_channels|.*out_channels|.*in_channels|auxiliary_channels|number_output_channels|base_channels|.*_num_filters|num_filters|upsample_initial_channel", WIDTH),
]
LISTS = r"hidden_sizes|neck_hidden_sizes|encoder_in_channels|decoder_in_channels|embed_dims?|channels|stage_(in|mid|out)_channels|num_features|widths|out_channels|in_channels"
TOKEN = re.compile(r".*(token_id|token_index|token_ids|_index|_id)")
NOISE = ("initializer_range", "init_std", "initializer_std")

# By model type: fields of the configuration.
EXCEPTIONS = {
    "bloom": {"hidden_size": 32, "n_head": 4},
    "deberta-v2": {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 4},
    "openai-gpt": {"n_positions": 64},
    "longformer": {"attention_window": 4},
    "led": {"attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64},
    "reformer": {"axial_pos_shape": [8, 8], "axial_pos_embds_dim": [16, 16], "max_position_embeddings": 64, "num_attention_heads": 2,
                 "attention_head_size": 16, "feed_forward_size": 48, "num_buckets": 2, "attn_layers": ["local", "lsh"]},
    "funnel": {"block_sizes": [1, 1], "d_head": 8},
    "convbert": {"conv_kernel_size": 3},
    "mobilebert": {"intra_bottleneck_size": 16, "true_hidden_size": 16, "embedding_size": 16},
    "xlnet": {"d_model": 32, "n_head": 4},
    "gptj": {"rotary_dim": 4}, "codegen": {"rotary_dim": 4, "n_ctx": 64},
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": 24},
    "gemma": {"head_dim": 8}, "gemma2": {"query_pre_attn_scalar": 8},
    "bit": {"embedding_size": 16, "hidden_sizes": [16, 32, 32, 64], "num_groups": 2}, "resnet": {"embedding_size": 16, "hidden_sizes": [16, 16, 32, 32]},
    "regnet": {"embedding_size": 16, "hidden_sizes": [16, 16, 32, 32], "groups_width": 8},
    **dict.fromkeys(("efficientnet", "align_vision_model"), {"width_coefficient": 0.25, "depth_coefficient": 0.25, "hidden_dim": 320,
        "in_channels": [32, 16, 24, 40, 80, 112, 192], "out_channels": [16, 24, 40, 80, 112, 192, 320]}),
    **dict.fromkeys(("layoutlmv2", "layoutlmv3"), {"coordinate_size": 6, "shape_size": 4, "input_size": 32}),
    **dict.fromkeys(("beit", "data2vec-vision"), {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4]}),
    "dpt": {"num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3]},
    "siglip2_vision_model": {"num_patches": 16},
    **dict.fromkeys(("rt_detr_resnet",), {"embedding_size": 16, "hidden_sizes": [64, 64, 128, 256], "depths": [1, 1, 1, 1]}),
    "levit": {"hidden_sizes": [16, 32, 48], "num_attention_heads": [2, 2, 2], "key_dim": [8, 8, 8]},
    "segformer": {"hidden_sizes": [8, 16, 40, 64]},
    "whisper": {"max_source_positions": 30},
    "phi3": {"pad_token_id": 0, "original_max_position_embeddings": 64},
    "falcon": {"num_attention_heads": 4},
    "mamba": {"time_step_rank": 4}, "falcon_mamba": {"time_step_rank": 4},
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 2, "hidden_size": 32, "expand": 2},
    "imagegpt": {"vocab_size": 99},
    "perceiver": {"num_latents": 6, "d_latents": 32, "d_model": 32, "num_self_attends_per_block": 2},
    "canine": {"num_hash_buckets": 101, "local_transformer_stride": 4},
    "squeezebert": {"embedding_size": 32},
    "swiftformer": {"embed_dims": [8, 16, 24, 32]},
    "timesformer": {"num_frames": 2}, "videomae": {"num_frames": 2}, "vivit": {"num_frames": 2, "tubelet_size": [2, 16, 16]},
    "sew-d": {"squeeze_factor": 2},
    "hiera": {"image_size": [32, 32], "num_query_pool": 2, "depths": [1, 1, 1], "num_heads": [1, 2, 4], "embed_dim": 16, "masked_unit_size": [4, 4]},
    "cvt": {"embed_dim": [8, 16, 24], "num_heads": [1, 2, 3], "depth": [1, 1, 2]},
    "donut-swin": {"num_heads": [3, 6, 12, 24]},
    "fnet": {"use_tpu_fourier_optimizations": False},
    "deepseek_v2": {"num_experts_per_tok": 2, "n_routed_experts": 4, "n_group": 2, "topk_group": 1},
    "falcon_h1": {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1, "mamba_d_ssm": 64},
    **dict.fromkeys(("autoformer", "informer", "time_series_transformer"), {"prediction_length": 4, "context_length": 8, "encoder_layers": 2,
        "decoder_layers": 2, "d_model": 32}),
    "grounding-dino": {"init_std": 0.05},  # rounding errors grow large with more
    "esm": {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32},
    "vits": {"hidden_size": 32, "noise_scale": 0.0, "noise_scale_duration": 0.0},
    **dict.fromkeys(("bamba", "granitemoehybrid", "zamba2"), {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1}),
    "bridgetower": {"num_hidden_layers": 2, "num_attention_heads": 4},
    **dict.fromkeys(("qwen2_vl_text", "qwen2_5_vl_text", "glm4v_text", "paddleocr_vl_text"),
        {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}}),
    "glm4v_moe_text": {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0, "mrope_section": [2, 1, 1]}},
    **dict.fromkeys(("ministral", "hunyuan_v1_dense", "hunyuan_vl_text", "hunyuan_v1_moe"), {"head_dim": 8}),
    "gemma3n_text": {"num_hidden_layers": 4, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 2},
    "mimi": {"hidden_size": 32, "num_filters": 8, "upsample_groups": 32, "codebook_dim": 16},
    "patchtsmixer": {"context_length": 32, "d_model": 16}, "patchtst": {"context_length": 32, "d_model": 16},
    "granite_speech5_ctc": {"max_position_embeddings": 256},
    "wav2vec2-bert": {"vocab_size": 99},
    "bros": {"dim_bbox_sinusoid_emb_2d": 16, "dim_bbox_sinusoid_emb_1d": 2, "dim_bbox_projection": 8},
}


def small_image(config):
    """A size that is a multiple of what one token covers."""
    patch = getattr(config, "patch_size", None)
    patch = patch[0] if isinstance(patch, (list, tuple)) and patch else patch
    if isinstance(getattr(config, "depths", None), (list, tuple)):
        return 64
    return 32 if not isinstance(patch, int) else 2 * patch if patch >= 12 else 4 * patch if patch >= 8 else 32


def scaled(values):
    most = max(values)
    factor = 8 if most >= 256 else 4 if most >= 96 else 1
    return [max(1, v // factor) for v in values]


def smaller(name, value, config):
    """What a field becomes; None if it stays."""
    if isinstance(value, bool):
        return None
    if name in NOISE:
        return 0.2
    if name == "image_size" and isinstance(value, (int, list, tuple)):
        size = small_image(config)
        return size if isinstance(value, int) else [size] * len(value)
    if isinstance(value, int):
        if name == "window_size" and isinstance(getattr(config, "depths", None), (list, tuple)):
            return 2
        if name == "embed_dim" and isinstance(getattr(config, "num_heads", None), (list, tuple)):
            return value // 4 if value >= 64 else None
        if name == "num_key_value_heads" and hasattr(config, "kv_lora_rank"):  # keys of all heads come from one vector
            return HEADS
        for pattern, small in SIZES:
            if re.fullmatch(pattern, name):
                return small if small is not None and value > small else None
    elif isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
        if name == "depths":
            return [min(v, 1) for v in value]
        if name in ("conv_dim", "tdnn_dim"):
            return [WIDTH] * len(value)
        if re.fullmatch(LISTS, name) and max(value) >= 96:
            return scaled(value)
    return None


def backbone_of(default):
    """A tiny backbone with as many feature maps as the given one."""
    import transformers

    count = len(getattr(default, "out_indices", None) or [4])
    if default.model_type == "timm_backbone":
        return tiny_of(transformers.ResNetConfig, out_features=[f"stage{n}" for n in range(5 - count, 5)])
    kept = {name: getattr(default, name) for name in ("reshape_hidden_states", "apply_layernorm") if hasattr(default, name)}
    small = tiny_of(type(default))
    names = list(default.out_features)
    if small.stage_names == default.stage_names:
        return tiny_of(type(default), **kept, out_features=names)
    layers = {"num_hidden_layers": count} if count > LAYERS and "num_hidden_layers" in fields_of(type(default)) else {}
    total = count if layers else len(small.stage_names) - 1
    return tiny_of(type(default), **kept, **layers, out_indices=list(range(total + 1 - count, total + 1)))


def tiny_of(kind, **more):
    """A configuration of the given class; `more` are fields that are not to be changed."""
    from transformers import PreTrainedConfig

    default = kind()
    exceptions = EXCEPTIONS.get(kind.model_type, {}) | more
    changed, next_token = {}, WORDS - 1
    for name, value in vars(default).items():
        if name.startswith("_") or name in exceptions or name not in fields_of(kind):
            continue
        if isinstance(value, PreTrainedConfig):
            backbone = name == "backbone_config" and (value.model_type == "timm_backbone" or getattr(value, "out_features", None))
            changed[name] = backbone_of(value) if backbone else tiny_of(type(value))
        elif TOKEN.fullmatch(name) and type(value) is int and value >= WORDS:
            changed[name], next_token = next_token, next_token - 1
        elif class_default(kind, name) is not None and (small := smaller(name, value, default)) is not None:
            changed[name] = small
    rope = getattr(default, "rope_parameters", None)
    if isinstance(rope, dict) and "mrope_section" in rope and "rope_parameters" in fields_of(kind):
        size = changed.get("head_dim") or getattr(default, "qk_rope_head_dim", None) or WIDTH // HEADS
        half = int(size * rope.get("partial_rotary_factor", 1)) // 2
        changed["rope_parameters"] = rope | {"mrope_section": [half - 2 * (half // 3), half // 3, half // 3]}
    return kind(**changed | exceptions)


def fields_of(kind):
    return getattr(kind, "__dataclass_fields__", {})


def class_default(kind, name):
    """None if the value is computed from others."""
    import dataclasses

    field = fields_of(kind)[name]
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else None


def tiny(model_type):
    from transformers.models.auto import CONFIG_MAPPING

    config = tiny_of(CONFIG_MAPPING[model_type])
    for part in parts_of(config):
        for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
            value = getattr(part, name, None)
            if isinstance(value, int) and value >= WORDS:
                setattr(part, name, 2)
    if getattr(config, "is_encoder_decoder", False) and getattr(config, "decoder_start_token_id", 0) is None:
        config.decoder_start_token_id = 2
    return config


def parts_of(config):
    """A configuration and those in it."""
    from transformers import PreTrainedConfig

    yield config
    for value in list(vars(config).values()):
        if isinstance(value, PreTrainedConfig):
            yield from parts_of(value)
