#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hf_tiny.txt: tiny models of every published family that sink reads, and what Hugging
Face's transformers library computes with them. test_hf.c imports the models and compares.

    pip install torch transformers              the file's first line says with which versions
    python3 hf_tiny.py                          write hf_tiny.txt beside this file
    python3 hf_tiny.py --check                  exit status 1 when the file would differ

The file holds no weights: they follow from a case's number K by integers, with stream, uniform and
u of golden.py, so that the test writes the very files that save_pretrained wrote; hash64 of each
proves it. A tensor's numbers are row-major from stream(K, its name):

    embeddings (wte, wpe, embed_*)              u
    dt_proj.bias                                u - 1.5
    A_log                                       0.375 + u
    all else of one dim: .weight                1 + u / 2
                         .bias                  u / 2
    other matrices                              u * (2 / sqrt(inputs)); inputs: the last dim, or for
                                                .c_ (GPT-2's, stored [in, out]) the first
    all else                                    u

rounded to F32, from there to F16 or BF16 (to nearest, ties to even); BOOL: uniform < 0.5.

A case is these lines, numbers with 10 digits:

    case NAME K                   K: the case's place, or 100 more until no token's experts are a
                                  matter of rounding
    config {...}                  as save_pretrained writes it
    config {...}                  some: the same model as published files spell it
    layout                        the files of one way to store it: each a line
    file FILE HASH64 TENSOR ...   a tensor is NAME:DTYPE:DIM,DIM.., in the order of the data
    run T : ids
    hidden l 0 : C numbers        of the last token: the stream, input of block l; l = L: the output
                                  of the last block
    way l 0 : T numbers           of every token, the product of `hidden` with the direction u of
                                  stream(K, "way.l")
    attn l h : T numbers          the last token's weights; h = l % H
    alpha l h : T numbers         of every key the mean of its weights over the rows that see it
                                  causally (section 3.2 of the paper); of every head
    key l g : D numbers           the last token's, as the cache holds it (rotated); g = l % the
    value l g : D numbers         number of key heads
    logits 0 0 : V numbers        of the last token
    logitway 0 0 : T numbers      as `way`, with stream(K, "way.logits")
    loss 0 0 : 1 number           mean cross-entropy of ids 2 .. T, where T > 1
    end CASES LINES SUM           as in golden.txt

Layers without attention have no attn, alpha, key and value. Only cases in F32 have a run of T = 1.
The reference is the library's own code in double: its casts to float32 are widened while it runs
(see `wide`). Its results in float32 are compared with these, and the largest differences printed:
the library's own rounding.
"""
import contextlib
import json
import math
import os
import struct
import sys
import tempfile

from needs import needs

needs("numpy", "torch", "transformers")

import numpy as np
import torch
import transformers
from transformers import (AutoModelForCausalLM, GPT2Config, GPTNeoXConfig, JambaConfig,
                          LlamaConfig, MistralConfig, OPTConfig)

from golden import MASK, Stream, asked, finish

FLOAT, DOUBLE, TO_FLOAT = torch.float32, torch.float64, torch.Tensor.float
DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "BOOL": torch.bool}
TOKENS = 24

# ---- the cases -----------------------------------------------------------------------------------

GPT2 = dict(vocab_size=97, n_positions=32, n_embd=24, n_layer=3, n_head=3)
NEOX = dict(vocab_size=97, hidden_size=40, num_hidden_layers=3, num_attention_heads=4,
            intermediate_size=72, rotary_pct=0.25, max_position_embeddings=32)
OPT = dict(vocab_size=97, hidden_size=24, ffn_dim=40, num_hidden_layers=3, num_attention_heads=3,
           word_embed_proj_dim=24, max_position_embeddings=32)
LLAMA = dict(vocab_size=97, hidden_size=32, intermediate_size=56, num_hidden_layers=3,
             num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
             rms_norm_eps=1e-5)
LLAMA3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64, rope_theta=10000.0)
MISTRAL = dict(LLAMA, sliding_window=5)
JAMBA = dict(vocab_size=97, hidden_size=32, intermediate_size=40, num_hidden_layers=8,
             num_attention_heads=4, num_key_value_heads=2, num_experts=4, num_experts_per_tok=2,
             attn_layer_period=4, attn_layer_offset=2, expert_layer_period=2,
             expert_layer_offset=1, mamba_d_state=4, mamba_dt_rank=3, use_mamba_kernels=False)

# name, configuration, dtype, what else: "shards SIZE" a second layout; "published" a second config;
# "buffers" the names and buffers of the files on the Hub
CASES = [
    ("gpt2", GPT2Config(**GPT2), "F32", "shards 30KB, published"),
    ("gpt2-f16", GPT2Config(**GPT2), "F16", "buffers"),
    ("gpt2-bf16", GPT2Config(**GPT2), "BF16", ""),
    ("gpt2-inner", GPT2Config(**GPT2, n_inner=40, activation_function="gelu"), "F32", ""),
    ("gpt2-inverse", GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=True), "F32", ""),
    ("gpt_neox", GPTNeoXConfig(**NEOX), "F32", "shards 40KB, published"),
    ("gpt_neox-f16", GPTNeoXConfig(**NEOX), "F16", "buffers"),
    ("gpt_neox-bf16", GPTNeoXConfig(**NEOX), "BF16", ""),
    ("gpt_neox-sequential", GPTNeoXConfig(**{**NEOX, "hidden_size": 64, "rotary_pct": 0.5},
                                          use_parallel_residual=False, hidden_act="gelu_fast",
                                          attention_bias=False),
     "F32", ""),
    ("opt", OPTConfig(**OPT), "F32", "shards 20KB, published"),
    ("opt-f16", OPTConfig(**OPT), "F16", "buffers"),
    ("opt-bf16", OPTConfig(**OPT), "BF16", ""),
    ("opt-350m", OPTConfig(**{**OPT, "word_embed_proj_dim": 12}, do_layer_norm_before=False),
     "F32", ""),
    ("llama", LlamaConfig(**LLAMA), "F32", "shards 30KB, published"),
    ("llama-f16", LlamaConfig(**LLAMA), "F16", "buffers"),
    ("llama-bf16", LlamaConfig(**LLAMA), "BF16", ""),
    ("llama-wide", LlamaConfig(**LLAMA, head_dim=12), "F32", ""),
    ("llama-tied", LlamaConfig(**LLAMA, tie_word_embeddings=True, attention_bias=True), "F32",
     ""),
    ("llama-bias", LlamaConfig(**LLAMA, attention_bias=True, mlp_bias=True), "F32", ""),
    ("llama-linear", LlamaConfig(**LLAMA, rope_parameters=dict(
        rope_type="linear", factor=2.0, rope_theta=500.0)), "F32", "published"),
    ("llama3", LlamaConfig(**{**LLAMA, "hidden_size": 64}, rope_parameters=LLAMA3), "F32",
     "published"),
    ("mistral", MistralConfig(**MISTRAL), "F32", "shards 30KB, published"),
    ("mistral-f16", MistralConfig(**MISTRAL), "F16", ""),
    ("mistral-bf16", MistralConfig(**{**MISTRAL, "sliding_window": None}), "BF16", ""),
    ("jamba", JambaConfig(**JAMBA), "F32", "shards 150KB, published"),
    ("jamba-f16", JambaConfig(**JAMBA), "F16", ""),
    ("jamba-bf16", JambaConfig(**JAMBA), "BF16", ""),
    ("jamba-offset", JambaConfig(**{**JAMBA, "num_hidden_layers": 4, "attn_layer_offset": 1}),
     "F32", ""),
]


def published(config):
    """A config.json of the spelling that the Hub's files have, before version 5 of the library."""
    old = {k: v for k, v in config.items() if k not in ("rope_parameters", "dtype", "head_dim")}
    old.update(torch_dtype=config["dtype"], transformers_version="4.30.0")
    rope = dict(config.get("rope_parameters") or {})
    kind = config["model_type"]
    if kind == "gpt_neox":
        old.update(rotary_pct=rope["partial_rotary_factor"], rotary_emb_base=10000)
        old.pop("attention_bias")
    elif rope:
        old["rope_theta"] = rope.pop("rope_theta")
        scaling = rope.pop("rope_type")
        old["rope_scaling"] = {("rope_type" if scaling == "llama3" else "type"): scaling, **rope}
        if scaling == "default":
            old["rope_scaling"] = None
    if kind == "gpt2":
        old["n_ctx"] = old["n_positions"]
        for key in ("tie_word_embeddings", "scale_attn_weights", "reorder_and_upcast_attn",
                    "scale_attn_by_inverse_layer_idx", "n_inner"):
            old.pop(key)
    if kind == "opt":
        for key in ("tie_word_embeddings", "enable_bias", "layer_norm_elementwise_affine"):
            old.pop(key)
    if kind == "jamba":
        old.update(n_ctx=262144, mamba_inner_layernorms=True, calc_logits_for_entire_prompt=False,
                   sliding_window=None)
    return old


def with_buffers(kind, layers, listing):
    """The listing under the names, and with the buffers, of the family's files on the Hub."""
    out = []
    for name, dtype, shape in listing:
        out.append((name.removeprefix({"gpt2": "transformer.", "opt": "model."}.get(kind, "")),
                    dtype, shape))
    for i in range(layers):
        if kind == "gpt2":
            out += [(f"h.{i}.attn.bias", "F32", (1, 1, 32, 32)),
                    (f"h.{i}.attn.masked_bias", "F32", ())]
        if kind == "gpt_neox":
            at = f"gpt_neox.layers.{i}.attention."
            out += [(at + "bias", "BOOL", (1, 1, 32, 32)), (at + "masked_bias", "F16", ()),
                    (at + "rotary_emb.inv_freq", "F32", (1,))]
        if kind == "llama":
            out.append((f"model.layers.{i}.self_attn.rotary_emb.inv_freq", "F32", (4,)))
    size = {"F32": 4, "F16": 2, "BOOL": 1}
    return sorted(out, key=lambda t: (-size[t[1]], t[0]))


# ---- weights and files ---------------------------------------------------------------------------

def hash64(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & MASK
    s = Stream(0, "")
    s.state = h
    return s.next()


def uniforms(k, name, n):
    """The first n uniforms of stream(k, name)."""
    with np.errstate(over="ignore"):
        x = np.uint64(Stream(k, name).state) \
            + np.uint64(0x9E3779B97F4A7C15) * np.arange(1, n + 1, dtype=np.uint64)
        x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return (x >> np.uint64(11)) * 2.0 ** -53


def tensor_bytes(k, name, dtype, shape):
    x = uniforms(k, name, math.prod(shape))
    if dtype == "BOOL":
        return (x < 0.5).astype(np.uint8).tobytes()
    u = 2 * x - 1
    if any(part in name for part in ("wte", "wpe", "embed_tokens", "embed_positions", "embed_in")):
        pass
    elif name.endswith("dt_proj.bias"):
        u = u - 1.5
    elif name.endswith("A_log"):
        u = 0.375 + u
    elif len(shape) == 1 and name.endswith(".weight"):
        u = 1 + u / 2
    elif len(shape) == 1 and name.endswith(".bias"):
        u = u / 2
    elif len(shape) > 1:
        u = u * (2 / math.sqrt(shape[0] if ".c_" in name else shape[-1]))
    t = torch.from_numpy(u).to(FLOAT).to(DTYPES[dtype])
    return t.view(torch.uint8).numpy().tobytes()


def listing_of(data):
    """[(name, dtype, shape)] of a safetensors file, in the order of its data."""
    n = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + n])
    head.pop("__metadata__")
    order = sorted(head, key=lambda name: head[name]["data_offsets"])
    return [(name, head[name]["dtype"], tuple(head[name]["shape"])) for name in order]


def file_bytes(k, listing):
    head, body = '{"__metadata__":{"format":"pt"}', b""
    for name, dtype, shape in listing:
        data = tensor_bytes(k, name, dtype, shape)
        head += (f',"{name}":{{"dtype":"{dtype}","shape":[{",".join(map(str, shape))}],'
                 f'"data_offsets":[{len(body)},{len(body) + len(data)}]}}')
        body += data
    head += "}"
    head += " " * (-len(head) % 8)
    return struct.pack("<Q", len(head)) + head.encode() + body


def put(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def files_of(folder):
    """{name: bytes} of a folder's safetensors files."""
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            with open(os.path.join(folder, name), "rb") as file:
                out[name] = file.read()
    return out


def loaded(folder, experts):
    """The model of a folder in float32, every tensor accounted for."""
    model, told = AutoModelForCausalLM.from_pretrained(
        folder, dtype=FLOAT, attn_implementation="eager", output_loading_info=True,
        **({"experts_implementation": "eager"} if experts else {}))
    wrong = {k: v for k, v in told.items() if v and k != "unexpected_keys"}
    odd = [x for x in told["unexpected_keys"] if not x.endswith(("bias", "inv_freq"))]
    assert not wrong and not odd, (wrong, odd)
    return model.eval()


def saved(model, folder, shards):
    model.save_pretrained(folder, max_shard_size=shards)
    with open(os.path.join(folder, "config.json"), encoding="ascii") as file:
        return json.load(file)


# ---- the reference -------------------------------------------------------------------------------

@contextlib.contextmanager
def wide():
    """While it lasts, what asks torch for a float32 by name gets a double."""
    torch.float32 = torch.float = DOUBLE
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.float32 = torch.float = FLOAT
        torch.Tensor.float = TO_FLOAT


def widen(model):
    """The model in double; the frequencies of its rotations, which are no parameters, made anew."""
    model = model.double()
    with wide():
        for part in model.modules():
            if hasattr(part, "inv_freq"):
                part.inv_freq = type(part)(part.config).inv_freq
                assert part.inv_freq.dtype == DOUBLE
    return model


def layers_of(model):
    for path in ("transformer.h", "gpt_neox.layers", "model.decoder.layers", "model.layers",
                 "model.language_model.layers"):
        with contextlib.suppress(AttributeError):
            return model.get_submodule(path)
    raise ValueError("no layers")


@torch.no_grad()
def forward(model, ids):
    """{line's words: numbers of every token, [T,..]} of one sequence."""
    stream, T = {}, len(ids)
    layers = layers_of(model)
    hooks = []
    for l, layer in enumerate(layers):
        hooks.append(layer.register_forward_pre_hook(
            lambda _, args, kw, l=l: stream.update({l: (args + tuple(kw.values()))[0]}),
            with_kwargs=True))
    hooks.append(layers[-1].register_forward_hook(
        lambda _, args, result: stream.update(
            {len(layers): result[0] if isinstance(result, tuple) else result})))
    ids = torch.tensor([ids])
    out = model(ids, attention_mask=torch.ones_like(ids), output_hidden_states=True,
                output_attentions=True, use_cache=True,
                **({"output_router_logits": True} if hasattr(model.config, "num_experts") else {}))
    for hook in hooks:
        hook.remove()
    for l in range(len(layers)):                 # what the library calls the hidden states
        assert torch.equal(stream[l], out.hidden_states[l])
    got = {f"hidden {l} 0": stream[l][0] for l in range(len(layers) + 1)}
    maps = [a for a in out.attentions if a is not None]
    with_maps = [l for l in range(len(layers))
                 if getattr(model.config, "layers_block_type", None) is None
                 or model.config.layers_block_type[l] == "attention"]
    assert len(maps) == len(with_maps)
    seen = torch.arange(T, 0, -1, dtype=maps[0].dtype)
    for l, a in zip(with_maps, maps):
        cache = out.past_key_values.layers[l]
        assert torch.equal(a[0], a[0].tril())
        h, g = l % a.shape[1], l % cache.keys.shape[1]
        got[f"attn {l} {h}"] = a[0, h]
        for h in range(a.shape[1]):
            got[f"alpha {l} {h}"] = a[0, h].sum(0) / seen
        got[f"key {l} {g}"], got[f"value {l} {g}"] = cache.keys[0, g], cache.values[0, g]
    got["logits 0 0"] = out.logits[0]
    if T > 1:
        got["loss 0 0"] = torch.nn.functional.cross_entropy(out.logits[0, :-1], ids[0, 1:])
    gap = 1.0                                    # of the last expert that is taken and the next
    for routed in getattr(out, "router_logits", None) or ():
        p = routed.softmax(-1).sort(descending=True).values
        top = model.config.num_experts_per_tok
        gap = min(gap, float((p[:, top - 1] - p[:, top]).min()))
    return got, gap


def run(k, model, ids):
    """The lines of one sequence."""
    with wide():
        got, _ = forward(model, ids)
    lines = [f"run {len(ids)} : " + " ".join(map(str, ids))]
    number = lambda x: f"{float(x):.10g}"
    row = lambda x: " ".join(map(number, x))
    for what, x in got.items():
        assert x.dtype == DOUBLE
        kind, l = what.split()[:2]
        last = x if kind == "alpha" else x[None] if kind == "loss" else x[-1]
        lines.append(f"{what} : {row(last)}")
        if kind in ("hidden", "logits"):
            of, way = (l, "way") if kind == "hidden" else ("logits", "logitway")
            u = torch.from_numpy(2 * uniforms(k, "way." + of, x.shape[1]) - 1)
            lines.append(f"{way} {l} 0 : {row(x @ u)}")
    return lines, got


def ids_of(k):
    """24 ids: the first and the last of the vocabulary, and every third a repeat."""
    draw, ids = Stream(k, "ids"), []
    for t in range(TOKENS):
        n = draw.below(97)
        ids.append({1: 0, 2: 96}.get(t, ids[n % t] if t % 3 == 2 else n))
    return ids


def apart(a, b):
    """Largest |a - b|, and over 1 + max |b|."""
    d = float((a.double() - b.double()).abs().max())
    return d, d / (1 + float(b.abs().max()))


def case(k, name, config, dtype, wants):
    lines = [f"case {name} {k}"]
    what = {w.split()[0]: w.split()[-1] for w in wants.split(", ") if w}
    with tempfile.TemporaryDirectory() as top:
        folder = lambda kind: os.path.join(top, kind)
        experts = getattr(config, "num_experts", 0) > 0
        blank = AutoModelForCausalLM.from_config(config).to(DTYPES[dtype])
        told, first, layouts = None, None, ["1GB"] + ([what["shards"]] if "shards" in what else [])
        for n, size in enumerate(layouts):
            empty, full, again = (folder(f"{kind}{n}") for kind in ("empty", "full", "again"))
            told = saved(first if n else blank, empty, size)
            os.makedirs(full)
            for file in os.listdir(empty):
                if not file.endswith(".safetensors"):
                    with open(os.path.join(empty, file), "rb") as old:
                        put(full, file, old.read())
            lines.append("layout")
            for file, data in files_of(empty).items():
                listing = listing_of(data)
                if "buffers" in what:
                    layers = config.get_text_config().num_hidden_layers
                    listing = with_buffers(told["model_type"], layers, listing)
                data = file_bytes(k, listing)
                put(full, file, data)
                lines.append(" ".join(["file", file, f"{hash64(data):016x}"] + [
                    f"{x}:{d}:{','.join(map(str, s))}" for x, d, s in listing]))
            model = loaded(full, experts)
            if "buffers" not in what:
                saved(model.to(DTYPES[dtype]), again, size)
                assert files_of(again) == files_of(full), "the library writes other bytes"
                model = loaded(full, experts)
            if n == 0:
                first = model
                lines.insert(1, "config " + json.dumps(told, sort_keys=True))
            else:                                # the same model, told in pieces
                for (x, a), (_, b) in zip(first.named_parameters(), model.named_parameters()):
                    assert torch.equal(a, b), x
        ids = ids_of(k)
        with torch.no_grad():
            float32, gap = forward(first, ids)
        if gap < 1e-3:                           # rounding might take another expert
            return case(k + 100, name, config, dtype, wants)
        if "published" in what:
            old = published(told)
            put(folder("full0"), "config.json", json.dumps(old).encode())
            with torch.no_grad():
                again, _ = forward(loaded(folder("full0"), experts), ids)
            assert all(torch.equal(x, again[w]) for w, x in float32.items()), "the old spelling"
            lines.insert(2, "config " + json.dumps(old, sort_keys=True))
    model = widen(first)
    for run_ids in (ids[:1], ids) if dtype == "F32" else (ids,):
        more, got = run(k, model, run_ids)
        lines += more
    worst = {}
    for w, x in float32.items():
        kind = w.split()[0]
        d = apart(x, got[w])[kind in ("hidden", "logits")]
        worst[kind] = max(worst.get(kind, 0), d)
    for kind, bound in (("hidden", 2e-5), ("attn", 1e-5), ("logits", 5e-5)):
        assert worst[kind] <= bound, (name, worst)
    print(f"{name:20s} {first.num_parameters():6d} parameters, {sum(map(len, lines)):6d} bytes; "
          "the library in float32: "
          + " ".join(f"{kind} {d:.1e}" for kind, d in worst.items()), flush=True)
    return lines


def main():
    asked()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    lines = [f"made with transformers {transformers.__version__}, torch {torch.__version__}"]
    for k, row in enumerate(CASES):
        lines += case(k, *row)
    return finish(lines, len(CASES), "cases", "hf_tiny.txt", 2e-9)


if __name__ == "__main__":
    sys.exit(main())
