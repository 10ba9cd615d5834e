#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hf_families.txt: tiny models of the families of data/families.c, as hf_tiny.py writes
hf_tiny.txt, in its format and by its functions. What differs:

    K counts from 1000
    all of one dim: .weight    1 + floor(512 u) / 1024, so that 1 + it is a float as well

    pip install torch transformers
    python3 hf_families.py [--check]
"""
import math
import sys

import torch
import transformers
from transformers import LlamaConfig, Qwen2Config, Qwen3Config

import hf_tiny
from golden import finish

TINY = dict(vocab_size=97, hidden_size=32, intermediate_size=40, num_hidden_layers=3,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128)
QWEN3 = dict(TINY, head_dim=12)

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
]

drawn = hf_tiny.tensor_bytes


def tensor_bytes(k, name, dtype, shape):
    if not (len(shape) == 1 and name.endswith(".weight")):
        return drawn(k, name, dtype, shape)
    u = torch.from_numpy(2 * hf_tiny.uniforms(k, name, shape[0]) - 1)
    t = (1 + torch.floor(u * 512) / 1024).to(torch.float32).to(hf_tiny.DTYPES[dtype])
    return t.view(torch.uint8).numpy().tobytes()


def published(config):
    """A config.json as the Hub's files spell it."""
    old = hf_tiny_published(config)
    if "head_dim" in config:
        old["head_dim"] = config["head_dim"]
    old.pop("layer_types", None)
    return old


hf_tiny_published = hf_tiny.published
hf_tiny.tensor_bytes, hf_tiny.published = tensor_bytes, published


def main():
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    lines = [f"made with transformers {transformers.__version__}, torch {torch.__version__}"]
    for k, row in enumerate(CASES):
        lines += hf_tiny.case(1000 + k, *row)
    return finish(lines, len(CASES), "cases", "hf_families.txt", 2e-9)


if __name__ == "__main__":
    sys.exit(main())
