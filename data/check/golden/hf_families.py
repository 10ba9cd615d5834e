#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hf_families.txt: tiny models of the families of data/models/families.c, as hf_tiny.py writes
hf_tiny.txt, in its format and by its functions. What differs:

    K counts from 1000
    key l g                    before YaRN's factor
    all of one dim: .weight    1 + floor(512 u) / 1024, so that 1 + it is a float as well
    U8: .._scales              122 + floor(6 uniform); others floor(256 uniform)
    attn, alpha                where the softmax has a logit of its own (gpt-oss), that comes first

    "packed": the experts in MXFP4, as the Hub's files of gpt-oss have them
    "hub":    the names of the Hub's files of Gemma 3, where the library writes others
    "held":   the names that the library has in memory, which some tools write

A Gemma 3 with an image part gets texts alone, id 96 among them, which stands for an image.

    pip install torch transformers accelerate
    python3 hf_families.py [--check]
"""
import json
import math
import os
import sys

from needs import needs

needs("torch", "transformers")

import torch
import transformers
from transformers import (Gemma2Config, Gemma3Config, Gemma3TextConfig, GemmaConfig, GptOssConfig,
                          LlamaConfig, Olmo2Config, Olmo3Config, Phi3Config, Qwen2Config,
                          Qwen3Config)

import hf_tiny
from golden import asked, finish

TINY = dict(vocab_size=97, hidden_size=32, intermediate_size=40, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128)
QWEN3 = dict(TINY, head_dim=12)
# sqrt(hidden_size) is a float
GEMMA2 = dict(TINY, hidden_size=36, head_dim=12, num_hidden_layers=4, query_pre_attn_scalar=10,
              sliding_window=5, attn_logit_softcapping=1.5, final_logit_softcapping=3.0)
GEMMA1 = dict(TINY, hidden_size=36, head_dim=12)
GEMMA3 = dict(TINY, hidden_size=36, head_dim=12, num_hidden_layers=7, query_pre_attn_scalar=10,
              sliding_window=5)
# heads, thetas, the divisor and more are Gemma3TextConfig's defaults; sqrt(hidden_size) is a float
GEMMA3_DEFAULT = dict(vocab_size=97, hidden_size=64, intermediate_size=40, num_hidden_layers=7,
                      head_dim=12, sliding_window=5, rope_parameters=dict(
                          full_attention=dict(rope_type="linear", factor=8.0)))
IMAGE = dict(image_token_index=96, boi_token_index=94, eoi_token_index=95, mm_tokens_per_image=4,
             vision_config=dict(model_type="siglip_vision_model", hidden_size=8,
                                intermediate_size=12, num_hidden_layers=1, num_attention_heads=2,
                                image_size=16, patch_size=4, vision_use_head=False))
PHI3 = dict(TINY, pad_token_id=0)
PHI3_LONG = dict(PHI3, hidden_size=64)
LONGROPE = dict(rope_type="longrope", rope_theta=100.0, partial_rotary_factor=0.75,
                short_factor=[1.0, 1.0, 1.125, 1.25, 1.5, 2.0],
                long_factor=[1.0, 1.25, 1.75, 3.5, 6.0, 9.5])
YARN = dict(TINY, hidden_size=64)
OLMO3 = dict(YARN, num_hidden_layers=4, sliding_window=5)
GPT_OSS = dict(QWEN3, num_local_experts=5, num_experts_per_tok=2, sliding_window=5,
               rope_parameters=dict(rope_type="yarn", factor=4.0, beta_fast=1.5, beta_slow=0.1,
                                    original_max_position_embeddings=16, truncate=False,
                                    rope_theta=100.0))

CASES = [
    # SmolLM2's config.json: a llama
    ("smollm2", LlamaConfig(**TINY, tie_word_embeddings=True, rope_theta=100000.0), "BF16", ""),
    ("qwen2", Qwen2Config(**TINY), "F32", "shards 30KB, published"),
    ("qwen2-f16", Qwen2Config(**TINY, tie_word_embeddings=True), "F16", ""),
    ("qwen2-bf16", Qwen2Config(**TINY), "BF16", ""),
    ("qwen2-window", Qwen2Config(**TINY, use_sliding_window=True, sliding_window=5,
                                 max_window_layers=2), "F32", ""),
    ("qwen3", Qwen3Config(**QWEN3), "F32", "shards 30KB, published"),
    ("qwen3-f16", Qwen3Config(**QWEN3, tie_word_embeddings=True), "F16", ""),
    ("qwen3-bf16", Qwen3Config(**QWEN3), "BF16", ""),
    ("qwen3-bias", Qwen3Config(**QWEN3, attention_bias=True, use_sliding_window=True,
                               sliding_window=5, max_window_layers=0,
                               rope_parameters=dict(rope_type="linear", factor=2.0,
                                                    rope_theta=500.0)), "F32", ""),
    ("gemma2", Gemma2Config(**GEMMA2), "F32", "shards 50KB, published"),
    ("gemma2-f16", Gemma2Config(**GEMMA2), "F16", ""),
    ("gemma2-bf16", Gemma2Config(**GEMMA2), "BF16", ""),
    ("gemma2-plain", Gemma2Config(**{**GEMMA2, "attn_logit_softcapping": None,
                                     "final_logit_softcapping": None}, attention_bias=True,
                                  tie_word_embeddings=False, hidden_activation="gelu",
                                  rope_parameters=dict(rope_type="default", rope_theta=500.0)),
     "F32", ""),
    ("gemma3", Gemma3TextConfig(**GEMMA3), "F32", "shards 90KB, published"),
    ("gemma3-f16", Gemma3TextConfig(**GEMMA3), "F16", ""),
    ("gemma3-bf16", Gemma3TextConfig(**GEMMA3), "BF16", ""),
    ("gemma3-linear", Gemma3TextConfig(**{**GEMMA3, "num_hidden_layers": 5}, attention_bias=True,
                                       sliding_window_pattern=2,
                                       final_logit_softcapping=3.0, rope_parameters=dict(
        full_attention=dict(rope_type="linear", factor=8.0, rope_theta=500.0),
        sliding_attention=dict(rope_type="default", rope_theta=50.0))), "F32", ""),
    ("phi3", Phi3Config(**PHI3), "F32", "shards 30KB, published"),
    ("phi3-f16", Phi3Config(**{**PHI3, "num_key_value_heads": 4}, sliding_window=5), "F16", ""),
    ("phi3-partial", Phi3Config(**PHI3, tie_word_embeddings=True, rope_parameters=dict(
        rope_type="default", rope_theta=500.0, partial_rotary_factor=0.5)), "BF16", ""),
    ("llama-yarn", LlamaConfig(**YARN, rope_parameters=dict(
        rope_type="yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=1.5,
        beta_slow=0.1, truncate=False, rope_theta=100.0)), "F32", ""),
    ("qwen3-yarn", Qwen3Config(**{**YARN, "head_dim": 16}, rope_parameters=dict(
        rope_type="yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=2.0,
        attention_factor=1.25, rope_theta=100.0)), "F32", ""),
    ("olmo2", Olmo2Config(**TINY), "F32", "shards 30KB, published"),
    ("olmo2-f16", Olmo2Config(**TINY, tie_word_embeddings=True), "F16", ""),
    ("olmo2-bias", Olmo2Config(**TINY, attention_bias=True, hidden_act="gelu",
                               rope_parameters=dict(rope_type="linear", factor=2.0,
                                                    rope_theta=500.0)), "BF16", ""),
    ("olmo3", Olmo3Config(**OLMO3, rope_parameters=dict(full_attention=dict(
        rope_type="yarn", factor=4.0, original_max_position_embeddings=16,
        attention_factor=1.25, rope_theta=500000.0))), "F32", "published"),
    ("olmo3-bf16", Olmo3Config(**OLMO3), "BF16", ""),
    ("olmo3-llama3", Olmo3Config(**{**OLMO3, "layer_types": ["full_attention",
                                                             "sliding_attention"] * 2},
                                 rope_parameters=dict(
        full_attention=hf_tiny.LLAMA3, sliding_attention=dict(rope_type="default",
                                                              rope_theta=50.0))), "F32", ""),
    ("gpt_oss", GptOssConfig(**GPT_OSS), "F32", "shards 90KB, published"),
    ("gpt_oss-f16", GptOssConfig(**{**GPT_OSS, "layer_types": ["full_attention"] * 3},
                                 swiglu_limit=0.75, swiglu_alpha=1.5), "F16", ""),
    ("gpt_oss-bf16", GptOssConfig(**{**GPT_OSS, "rope_parameters": dict(
        rope_type="default", rope_theta=500.0)}, attention_bias=False, tie_word_embeddings=True),
     "BF16", ""),
    ("gpt_oss-mxfp4", GptOssConfig(**{**GPT_OSS, "hidden_size": 64, "intermediate_size": 32}),
     "BF16", "packed"),
    # 24 tokens are a longer text, one is a short one; the lists are floats
    ("phi3-longrope", Phi3Config(**PHI3_LONG, original_max_position_embeddings=16,
                                 rope_parameters=LONGROPE), "F32", "published"),
    ("phi3-longrope-short", Phi3Config(**PHI3_LONG, original_max_position_embeddings=24,
                                       rope_parameters=dict(LONGROPE, attention_factor=1.25)),
     "BF16", ""),
    ("gemma1", GemmaConfig(**GEMMA1), "F32", "published"),
    ("gemma1-bias", GemmaConfig(**GEMMA1, attention_bias=True, hidden_act="silu",
                                rope_parameters=dict(rope_type="linear", factor=2.0,
                                                     rope_theta=500.0)), "BF16", ""),
    ("gemma3-image", Gemma3Config(**IMAGE, text_config=GEMMA3_DEFAULT), "F32",
     "shards 90KB, published"),
    ("gemma3-image-f16", Gemma3Config(**IMAGE, text_config=dict(
        GEMMA3, num_hidden_layers=3, sliding_window_pattern=2, rope_parameters=dict(
            full_attention=dict(rope_type="linear", factor=8.0, rope_theta=500.0),
            sliding_attention=dict(rope_type="default", rope_theta=50.0)))), "F16", "hub"),
    ("gemma3-image-bf16", Gemma3Config(**IMAGE, tie_word_embeddings=False, text_config=dict(
        GEMMA3, num_hidden_layers=3, attention_bias=True, layer_types=[
            "full_attention", "sliding_attention", "sliding_attention"])), "BF16", "held"),
]

drawn = hf_tiny.tensor_bytes


def tensor_bytes(k, name, dtype, shape):
    if dtype == "U8":
        x = hf_tiny.uniforms(k, name, math.prod(shape))
        x = 122 + 6 * x if name.endswith("_scales") else 256 * x
        return x.astype("uint8").tobytes()
    if not (len(shape) == 1 and name.endswith(".weight")):
        return drawn(k, name, dtype, shape)
    u = torch.from_numpy(2 * hf_tiny.uniforms(k, name, shape[0]) - 1)
    t = (1 + torch.floor(u * 512) / 1024).to(torch.float32).to(hf_tiny.DTYPES[dtype])
    return t.view(torch.uint8).numpy().tobytes()


def published(config):
    """A config.json as the Hub's files spell it."""
    if config["model_type"] == "gemma3":         # what is a default is left out
        old = {k: v for k, v in config.items() if k not in ("dtype", "tie_word_embeddings")}
        text, usual = config["text_config"], Gemma3TextConfig().to_dict()
        rope = dict(text["rope_parameters"]["full_attention"])
        del rope["rope_theta"]
        old["text_config"] = {k: v for k, v in text.items() if k == "model_type" or (
            v != usual.get(k) and k not in ("rope_parameters", "layer_types", "dtype"))}
        old["text_config"]["rope_scaling"] = rope
        old.update(torch_dtype=config["dtype"], eos_token_id=[1, 106],
                   transformers_version="4.50.0.dev0")
        return old
    if config["model_type"] == "gemma3_text":
        old = {k: v for k, v in config.items() if k not in ("rope_parameters", "dtype")}
        rope = config["rope_parameters"]
        old.update(torch_dtype=config["dtype"], rope_scaling=None, cache_implementation="hybrid",
                   rope_theta=rope["full_attention"]["rope_theta"],
                   rope_local_base_freq=rope["sliding_attention"]["rope_theta"],
                   sliding_window_pattern=old.pop("_sliding_window_pattern"))
    elif config["model_type"] == "olmo3":
        old = {k: v for k, v in config.items() if k not in ("rope_parameters", "dtype")}
        rope = dict(config["rope_parameters"]["full_attention"])
        old.update(torch_dtype=config["dtype"], rope_theta=rope.pop("rope_theta"), rope_scaling=rope)
    elif config["rope_parameters"]["rope_type"] == "longrope":
        old = hf_tiny_published(config)
        rope = old["rope_scaling"]
        del rope["original_max_position_embeddings"]
        old.update(partial_rotary_factor=rope.pop("partial_rotary_factor"), full_attn_mod=1,
                   interpolate_factor=1, lm_head_bias=False, mlp_bias=False, auto_map={
                       "AutoModelForCausalLM": "modeling_phi3.Phi3ForCausalLM",
                       "AutoTokenizer": "Xenova/gpt-4o"})
    else:
        old = hf_tiny_published(config)
    if config["model_type"] == "gemma":          # the first files say gelu, and mean it by tanh
        old["hidden_act"] = "gelu"
    if "head_dim" in config:
        old["head_dim"] = config["head_dim"]
    old.pop("layer_types", None)
    if config["model_type"] == "gemma2":
        old.update(hidden_act=config["hidden_activation"], cache_implementation="hybrid")
    return old


def widen(model):
    """As hf_tiny's, with frequencies by kind of layer."""
    kinds = [(part, name) for part in model.modules() for name in vars(part).get("_buffers", {})
             if name.endswith("_attention_inv_freq")]
    model = widened(model)
    with hf_tiny.wide():
        for part, name in kinds:
            setattr(part, name, getattr(type(part)(part.config), name))
            assert getattr(part, name).dtype == hf_tiny.DOUBLE
    for part in model.modules():                 # LongRoPE's two, of which a forward takes one
        if getattr(part, "long_inv_freq", None) is not None:
            part.original_inv_freq, part.long_inv_freq = part.inv_freq.clone(), None
    return model


hf_tiny_published = hf_tiny.published
def forward(model, ids):
    """As hf_tiny's, with keys before YaRN's factor, which sink puts into the scores; LongRoPE's is
    of the dims that turn alone."""
    got, gap = plain_forward(model, ids)
    text = getattr(model.model, "language_model", model.model)
    rotary, kinds = text.rotary_emb, getattr(text.config, "layer_types", None)
    for what in got:
        if what.startswith("key ") and not hasattr(rotary, "long_inv_freq"):
            kind = f"{kinds[int(what.split()[1])]}_attention_scaling" if kinds else ""
            got[what] = got[what] / getattr(rotary, kind, getattr(rotary, "attention_scaling", 1.0))
        elif what.startswith("attn ") and hasattr(text.layers[0].self_attn, "sinks"):
            got[what] = torch.cat([1 - got[what].sum(-1, keepdim=True), got[what]], -1)
        elif what.startswith("alpha ") and hasattr(text.layers[0].self_attn, "sinks"):
            T = len(ids)
            seen = torch.arange(T, 0, -1, dtype=got[what].dtype)
            got[what] = torch.cat([1 - (got[what] * seen).sum(0, keepdim=True) / T, got[what]])
    return got, gap


def packed(kind, layers, listing):
    """The listing with the experts' matrices in MXFP4."""
    out = []
    for name, dtype, shape in listing:
        if name.endswith(("gate_up_proj", "down_proj")):
            blocks = (shape[0], shape[2], shape[1] // 32)
            out += [(name + "_blocks", "U8", blocks + (16,)), (name + "_scales", "U8", blocks)]
        else:
            out.append((name, dtype, shape))
    return sorted(out, key=lambda t: (-{"BF16": 2, "U8": 1}[t[1]], t[0]))


def hub_names(kind, layers, listing):
    return sorted((name.replace("vision_tower.", "vision_tower.vision_model."), dtype, shape)
                  for name, dtype, shape in listing)


def held_names(kind, layers, listing):
    """The names of Gemma3ForConditionalGeneration.named_parameters()."""
    out = []
    for name, dtype, shape in listing:
        name = name.replace("language_model.lm_head.", "lm_head.")
        name = name.replace("language_model.model.", "language_model.")
        out.append((name if name.startswith("lm_head.") else "model." + name, dtype, shape))
    return sorted(out)


def saved_packed(model, folder, shards):
    told = plain_saved(model, folder, shards)
    told["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}
    with open(os.path.join(folder, "config.json"), "w", encoding="ascii") as file:
        json.dump(told, file)
    return told


plain_saved, plain_buffers = hf_tiny.saved, hf_tiny.with_buffers


plain_forward, hf_tiny.forward = hf_tiny.forward, forward
widened = hf_tiny.widen
hf_tiny.tensor_bytes, hf_tiny.published, hf_tiny.widen = tensor_bytes, published, widen


def main():
    asked()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    lines = [f"made with transformers {transformers.__version__}, torch {torch.__version__}"]
    for k, (name, config, dtype, wants) in enumerate(CASES):
        named = {"packed": packed, "hub": hub_names, "held": held_names}.get(wants)
        hf_tiny.saved = saved_packed if wants == "packed" else plain_saved
        hf_tiny.with_buffers = named or plain_buffers
        lines += hf_tiny.case(1000 + k, name, config, dtype, "buffers" if named else wants)
    return finish(lines, len(CASES), "cases", "hf_families.txt", 2e-9)


if __name__ == "__main__":
    sys.exit(main())
