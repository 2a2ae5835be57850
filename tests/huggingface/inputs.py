# SPDX-License-Identifier: MIT
"""Inputs of the models of transformers, from the names of their arguments and their configurations."""

import inspect

import torch

from tiny_configs import parts_of
from zoo import ids, normal
from zoo_language import padding_mask


def first(config, *names, default=None):
    """The first value of these names in a configuration or those in it."""
    for name in names:
        for part in parts_of(config):
            value = getattr(part, name, None)
            if value is not None and not isinstance(value, bool):
                return value
    return default


def pair(size):
    return tuple(size) if isinstance(size, (list, tuple)) else (size, size)


def boxes(batch, length):
    corner = ids(batch, length, 2, below=20)
    return torch.cat([corner, corner + ids(batch, length, 2, below=20) + 1], -1)


def words(config, batch, length):
    """No special words, which have the lowest and the highest numbers."""
    return 5 + ids(batch, length, below=max(2, min(first(config, "vocab_size", default=99), 80) - 6))


def image(config, batch):
    size = first(config, "image_size", "input_size", default=64)
    channels = first(config, "num_channels", "in_channels", "in_chans", default=3)
    return normal(batch, channels if isinstance(channels, int) else 3, *pair(size))


def frames(config, batch):
    return torch.stack([image(config, batch) for _ in range(first(config, "num_frames", default=2))], 1)


def features(config, batch, length):
    mels = first(config, "num_mel_bins", "feature_size", "input_feat_per_channel", "feature_projection_input_dim", "input_dim", default=80)
    if config.model_type in ("whisper", "qwen2_audio_encoder", "voxtral_encoder", "audioflamingo3_encoder", "glmasr_encoder"):
        return normal(batch, mels, 2 * first(config, "max_source_positions", default=30))
    if config.model_type in ("clvp", "voxtral_realtime", "voxtral_realtime_encoder"):
        return normal(batch, mels, 8 * length)
    if config.model_type in ("clap", "clap_audio_model"):
        return normal(batch, 1, 16 * length, mels)
    if config.model_type == "nemotron3_5_transcribe_audio":
        return normal(batch, 8 * length, mels)
    return normal(batch, 4 * length, mels)


def audio(config, batch, length, name, parameters):
    if config.model_type == "audio-spectrogram-transformer":
        return normal(batch, config.max_length, config.num_mel_bins)
    if config.model_type in ("encodec", "dac", "mimi", "mimi_encoder", "xcodec", "xcodec2", "neucodec", "pe_audio", "pe_audio_encoder"):
        return normal(batch, 1, 320 * length)
    return normal(batch, 320 * length)


def made(name, config, batch, length, parameters):
    """The tensor for an argument; None if it is not known."""
    if name == "inputs" and config.model_type == "perceiver":
        return normal(batch, length, config.d_model)
    if name == "past_values" and config.model_type in ("patchtst", "patchtsmixer"):
        return normal(batch, config.context_length, config.num_input_channels)
    if name == "input_features_mask":
        return padding_mask(batch, 4 * length)
    if name in ("input_ids", "decoder_input_ids", "input_tokens", "inputs"):
        return words(config, batch, length if name == "input_ids" else max(2, length - 2))
    if name == "attention_mask":
        return padding_mask(batch, length)
    if name == "token_type_ids":
        return ids(batch, length, below=2)
    if name == "bbox":
        return boxes(batch, length)
    if name == "pixel_values":
        return image(config, batch)
    if name in ("pixel_values_videos", "frames"):
        return frames(config, batch)
    if name in ("input_features", "audio_features"):
        return features(config, batch, length)
    if name in ("input_values", "audio_values"):
        return audio(config, batch, length, name, parameters)
    if name in ("hidden_states", "inputs_embeds", "vision_embeds", "query_embeds", "encoder_hidden_states"):
        return normal(batch, length, first(config, "encoder_hidden_size" if name == "encoder_hidden_states" else "hidden_size", "hidden_size", "d_model", default=32))
    if name == "grid_thw":
        return torch.tensor([[1, 4, 4]] * batch)
    if name == "past_values":
        return normal(batch, first(config, "context_length", default=8) + max(first(config, "lags_sequence", default=[0])))
    if name == "past_observed_mask":
        return torch.ones(batch, first(config, "context_length", default=8) + max(first(config, "lags_sequence", default=[0])))
    if name == "past_time_features":
        return normal(batch, first(config, "context_length", default=8) + max(first(config, "lags_sequence", default=[0])), 0)
    if name == "spectrogram":
        return normal(batch, length, first(config, "model_in_dim", "num_mel_bins", default=80))
    if name == "audio_codes":
        return ids(batch, first(config, "num_quantizers", "num_codebooks", default=2), length, below=16)
    return None


def choices(model):
    """Sets of argument names to try, most likely first."""
    parameters = inspect.signature(model.forward).parameters
    main = getattr(model, "main_input_name", "input_ids")
    main = main if main in parameters else next(iter(parameters))
    text = ("attention_mask",) if "attention_mask" in parameters and main == "input_ids" else ()
    known = [n for n in ("decoder_input_ids", "pixel_values", "input_ids", "bbox", "input_features", "input_values", "pixel_values_videos") if n in parameters and n != main]
    base = (main, *text)
    wanted = [base]
    if "decoder_input_ids" in known:
        wanted.insert(0, (*base, "decoder_input_ids"))
    if "bbox" in known:
        wanted.insert(0, (*base, "bbox"))
    required = tuple(n for n, p in parameters.items() if p.default is inspect.Parameter.empty and p.kind is p.POSITIONAL_OR_KEYWORD)
    if "input_features_mask" in parameters and main == "input_features":
        wanted.append((*base, "input_features_mask"))
    if required:
        wanted.append(tuple(dict.fromkeys((*base, *required))))
        wanted.append(required)
    for name in known:
        wanted.append((*base, name))
    if "pixel_values" in known or "input_ids" in known:
        wanted.append(tuple(dict.fromkeys((*base, *[n for n in ("input_ids", "attention_mask", "pixel_values", "bbox") if n in parameters]))))
    wanted.append((main,))
    return list(dict.fromkeys(wanted)), parameters


WITH_PATCHES = ("pixel_attention_mask", "spatial_shapes", "noise")


def arguments(names, config, batch, length, parameters, images=0):
    """{name: tensor}, or None if one is not known. Also the video of a model whose pixels have a frame axis."""
    found = {name: made(name, config, batch, length, parameters) for name in names if name not in WITH_PATCHES}
    if any(value is None for value in found.values()):
        return None
    if "grid_thw" in found:  # patches of all images, one after another
        vision = getattr(config, "vision_config", config)
        width = first(vision, "in_channels", "in_chans", "num_channels", default=3) * first(vision, "temporal_patch_size", default=1) * first(vision, "patch_size", default=14) ** 2
        found[next(n for n in found if n != "grid_thw")] = normal(16 * batch, width)
    if images and "input_ids" in found:
        token = first(config, "image_token_id", "image_token_index", "audio_token_id", "audio_token_index")
        found["input_ids"] = torch.cat([torch.full((batch, images), token), found["input_ids"]], 1)
        if "attention_mask" in found:
            found["attention_mask"] = torch.cat([torch.ones(batch, images, dtype=torch.long), found["attention_mask"]], 1)
    if config.model_type in ("timesformer", "videomae", "vivit", "vjepa2", "videoprism", "xclip_vision_model") and "pixel_values" in found:
        found["pixel_values"] = frames(config, batch)
    if config.model_type == "blip_2_qformer":
        found["encoder_hidden_states"] = normal(batch, length + 2, config.encoder_hidden_size)
    if config.model_type == "vit_mae":  # which patches it hides, random if not given
        found["noise"] = torch.rand(batch, (config.image_size // config.patch_size) ** 2)
    if config.model_type in ("siglip2", "siglip2_vision_model") and "pixel_values" in found:
        vision = getattr(config, "vision_config", config)
        side = int(vision.num_patches**0.5)
        found["pixel_values"] = normal(batch, side * side, vision.num_channels * vision.patch_size**2)
        found["pixel_attention_mask"] = torch.ones(batch, side * side, dtype=torch.long)
        found["spatial_shapes"] = torch.tensor([[side, side]] * batch)
    return found
