# SPDX-License-Identifier: MIT
"""The heads that are tried, and the most used model types."""

# Heads, the first of them that a type has.
TASKS = ("CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ", "CTC", "IMAGE_TEXT_TO_TEXT", "MASKED_LM", "OBJECT_DETECTION",
         "UNIVERSAL_SEGMENTATION", "SEMANTIC_SEGMENTATION", "DEPTH_ESTIMATION", "IMAGE_CLASSIFICATION", "VIDEO_CLASSIFICATION",
         "AUDIO_CLASSIFICATION", "ZERO_SHOT_IMAGE_CLASSIFICATION", "SEQUENCE_CLASSIFICATION", "IMAGE_TO_IMAGE", "KEYPOINT_DETECTION",
         "MASK_GENERATION", "VISUAL_QUESTION_ANSWERING", "TIME_SERIES_PREDICTION", "TEXT_TO_SPECTROGRAM", "TEXT_TO_WAVEFORM", "PRETRAINING")

# How else the head of a causal language model is captured, with --variants.
VARIANTS = ("eager", "outputs", "prefill", "padded", "padded_decode", "static", "embeds", "float16")

# The most used types come first.
FIRST = """bert gpt2 llama t5 vit clip wav2vec2 whisper mistral swin roberta distilbert qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 opt bloom
gpt_neox gptj gpt_neo falcon bart mbart pegasus marian m2m_100 albert electra deberta deberta-v2 xlm-roberta camembert mpnet longformer
bigbird_pegasus big_bird funnel xlnet fnet mobilebert convbert layoutlm layoutlmv3 beit deit dinov2 dinov3_vit convnext convnextv2 resnet regnet
efficientnet mobilenet_v1 mobilenet_v2 mobilevit swinv2 segformer detr rt_detr yolos mask2former dpt depth_anything siglip siglip2 blip
hubert wavlm sew speech_to_text audio-spectrogram-transformer clap mixtral qwen2_moe qwen3_moe mamba mamba2 cohere olmo2 granite
stablelm starcoder2 smollm3 deepseek_v2 deepseek_v3 gpt_oss modernbert mt5 switch_transformers rembert roformer esm videomae timesformer
vits speecht5 encodec perceiver tapas nystromformer led prophetnet blenderbot biogpt codegen ctrl xglm""".split()
