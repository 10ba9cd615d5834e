#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An independent PyTorch twin of `sink dump`.

The forward pass below was written from the formulas alone and shares no line with sink.c. Every
operator is dense and as plain as it can be, and all derivatives come from autograd, so a dump that
agrees with it had its gradients derived twice.

    python3 twin.py DIR [DIR ...]           check dumps; exit status 0 when all of them pass
    python3 twin.py --make DIR [flags]      write a dump of a random model, to test the loader
    python3 twin.py --selftest              finite differences, closed forms, the loader itself

Letters: B sequences, T tokens, N rows (T, and one more for each sink token x* before the text), L
layers, H heads, D head width, C model width, E embedding width, F hidden width of the ffn, V words,
S columns of the attention in the order *, x*, 1..T. Row vectors: y = x W, with W stored [in, out].

    q, k, v = n(x) W + b                      query head h reads key head h / (H / H_kv)
    z_ij = <phi(R_i q_i), phi(R_j k_j)> / sqrt(D) + b_h(max(i - j, 0))
    z_i* = <phi(R_i q_i), k*> / sqrt(D), or one number per head or row
    s_ij = sim(z_ij) where visible, else 0    visible: (j <= i and j > i - w) or 1 <= j <= p
    o_i  = scale * sum_j clip(s_ij / Z_i) v_j + v+
    m_ij = |s_ij| / (sum_j |s_ij| + e)        e = 0 for exp, 1e-8 for every other similarity

What came after the paper: z <- X tanh(z / X), c_h log(n_i) z, z - log(n_i) or z + b_h, of the keys
and in this order, n_i being the number of keys that row i sees; o without what it has of v_i;
gates; a gain per head; norms of q, k and o, and after a branch; g tanh(a x) + b for a norm; Muon.
"""
import argparse
import contextlib
import io
import json
import math
import os
import sys
import tempfile
import zlib
from types import SimpleNamespace

from needs import needs

needs("numpy", "torch")

import numpy as np
import torch
import torch.nn.functional as Fn

# ---- 1. the configuration ------------------------------------------------------------------------

# Name (a flag without its dashes): value when absent. A 0 in heads or widths means "as the other".
DEFAULTS = {
    "layers": 2, "heads": 4, "kv-heads": 0, "dim": 32, "head-dim": 0, "ffn": 48, "vocab": 29,
    "context": 16, "embed-dim": 0, "tied": False, "linear-bias": False,
    "pos": "rotary", "rotary-dims": 0, "rope-base": 10000.0, "rope-pairing": "half",
    "rope-scaling": "none", "rope-factor": 8.0, "rope-low": 1.0, "rope-high": 4.0,
    "rope-original": 8192, "norm": "rms", "norm-eps": 1e-5,
    "place": "pre", "act": "swiglu", "combine": "concat",
    "kernel": "identity", "sim": "exp", "normalizer": "sum", "pnorm": 1.0, "scale": 1.0,
    "extra": "none", "extra-shared": False, "extra-dims": 0, "extra-order": "first",
    "extra-value": "zero", "extra-norm": 1.0, "extra-logit": "none", "vbias": False,
    "sink-token": 0,
    "window": 0, "window-period": 0, "window-offset": 0, "prefix": 0,
    "soft-cap": "none", "score-scale": "none", "score-bias": "none",
    "clip-low": 0.0, "clip-high": 1.0, "gate": "none",
    "qk-norm": False, "head-norm": False, "v-scale": False, "xsa": False,
}
REQUIRED = ("layers", "heads", "dim", "ffn", "vocab", "context")     # a dump must state these
CHOICES = {
    "pos": "rotary none absolute learned relative t5 alibi", "norm": "rms layer dyt",
    "place": "pre post parallel sandwich",
    "act": "swiglu geglu reglu geglutanh swish gelu relu gelutanh",
    "combine": "concat add", "kernel": "identity elu mlp",
    "normalizer": "sum one clamp pnorm count",
    "sim": "exp sigmoid elu identity softpick rectified relu",
    "extra": "none k kv zero logit logn", "score-scale": "none logn",
    "score-bias": "none logn learned", "gate": "none head element value static",
    "extra-order": "first last lowfreq", "extra-value": "zero e1 ones",
    "rope-pairing": "half interleaved", "rope-scaling": "none linear llama3",
}


def coerce(value, default):
    """The value as the default's type; JSON may hold booleans as 0 and 1, and numbers as text."""
    if value is None:
        return default
    if isinstance(default, bool):
        return str(value).lower() in ("1", "1.0", "true", "yes", "on")
    if isinstance(default, str):
        return str(value).lower()
    return int(float(value)) if isinstance(default, int) else float(value)


def resolve(given):
    """The configuration (and the plain mapping) from flag names; unknown names are left out."""
    given = {key.replace("_", "-"): value for key, value in given.items()}
    full = {key: coerce(given.get(key), default) for key, default in DEFAULTS.items()}
    for key, rows in CHOICES.items():
        if full[key] not in rows.split():
            raise SystemExit(f"config: {key} is {full[key]!r}, expected one of: {rows}")
    c = SimpleNamespace(**{key.replace("-", "_"): value for key, value in full.items()})
    c.kv_heads = c.kv_heads or c.heads
    c.head_dim = c.head_dim or c.dim // c.heads
    c.embed_dim = c.embed_dim or c.dim
    c.rotary_dims = c.rotary_dims or c.head_dim
    c.extra_dims = c.extra_dims or c.head_dim
    if c.normalizer == "pnorm" and c.pnorm == 1:
        c.normalizer = "sum"
    for key in ("soft_cap", "extra_logit"):
        setattr(c, key, None if getattr(c, key) == "none" else float(getattr(c, key)))
    return c, full


# ---- 2. the table of tensors ---------------------------------------------------------------------

def table(c):
    """{name: shape} of every parameter that this configuration has."""
    C, D, E, Fh, V, H = c.dim, c.head_dim, c.embed_dim, c.ffn, c.vocab, c.heads
    gated = "glu" in c.act
    shapes = {"wte": (V, E)}

    def norm(name):
        shapes[name] = (C,)
        if c.norm != "rms":
            shapes[name + ".b"] = (C,)
        if c.norm == "dyt":
            shapes[name + ".a"] = (1,)

    if E != C:
        shapes.update({"win": (E, C), "wout": (C, E)})
    if c.pos == "learned":
        shapes["wpe"] = (c.context + c.sink_token, C)
    if c.pos == "t5":
        shapes["rel"] = (32, H)
    if c.sink_token:
        shapes["xstar"] = (C,) if c.sink_token == 1 else (c.sink_token, C)
    if not c.tied:
        shapes["wcls"] = (E, V)
    if c.place != "post":
        norm("normf")
    for l in range(c.layers):
        a = f"l{l}."
        for name in ("norm1", "norm2", "norm3", "norm4")[:4 if c.place == "sandwich" else 2]:
            norm(a + name)
        linear = {"q": (C, H * D), "k": (C, c.kv_heads * D), "v": (C, c.kv_heads * D),
                  "o": (H * D if c.combine == "concat" else D, C), "1": (C, Fh)}
        linear.update({"2": (C, Fh), "3": (Fh, C)} if gated else {"2": (Fh, C)})
        for name, shape in linear.items():
            shapes[a + "w" + name] = shape
            if c.linear_bias:
                shapes[a + "b" + name] = shape[1:]
        if c.extra in ("k", "kv"):
            shapes[a + "kstar"] = (1 if c.extra_shared else H, D)
        if c.extra == "kv":
            shapes[a + "vstar"] = (1 if c.extra_shared else H, D)
        if c.extra == "logit" and c.extra_logit is None:
            shapes[a + "logit"] = (H,)
        if c.score_scale == "logn":
            shapes[a + "cscale"] = (H,)
        if c.score_bias == "learned":
            shapes[a + "sbias"] = (H,)
        if c.gate == "static":
            shapes[a + "gate"] = (H,)
        elif c.gate != "none":
            shapes[a + "wg"] = (C, {"head": H, "element": H * D, "value": c.kv_heads * D}[c.gate])
        if c.qk_norm:
            shapes.update({a + "qnorm": (D,), a + "knorm": (D,)})
        if c.head_norm:
            shapes[a + "hnorm"] = (H * D,)
        if c.v_scale:
            shapes[a + "vscale"] = (H,)
        if c.vbias:
            shapes[a + "vplus"] = (H, D)
        if c.kernel == "mlp":
            shapes.update({a + "phi1": (D, D), a + "phi2": (D, D)})
    return shapes


def random_parameters(c, seed, dtype=torch.float64):
    """Weights of order 1, so that every branch is met and no gradient is faint. A tensor's draw
    depends on its name, so that variants with other tensors beside it share it."""
    draw = {}
    for name, shape in table(c).items():
        g = torch.Generator().manual_seed(seed + zlib.crc32(name.encode()))
        x = torch.randn(shape, generator=g, dtype=torch.float64)
        leaf = name.split(".", 1)[-1] if name[0] == "l" and name[1].isdigit() else name
        if leaf[:4] == "norm" and leaf[-2] != "." or leaf[1:] in ("norm", "scale"):
            x = 1 + 0.3 * x
        elif leaf[0] in "wp" and leaf not in ("wte", "wpe") and len(shape) == 2:
            x = 1.3 * x / math.sqrt(shape[0])
        elif leaf == "kstar":
            x = x * live_dims(c)
        draw[name] = x.to(dtype).requires_grad_()
    return draw


# ---- 3. operators --------------------------------------------------------------------------------

def rms(c, x):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + c.norm_eps)


def normalise(c, p, name, x):
    if c.norm == "rms":
        return rms(c, x) * p[name]
    if c.norm == "dyt":
        return p[name] * torch.tanh(p[name + ".a"] * x) + p[name + ".b"]
    x = x - x.mean(-1, keepdim=True)
    x = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + c.norm_eps)
    return x * p[name] + p[name + ".b"]


def linear(c, p, layer, name, x):
    y = x @ p[f"l{layer}.w{name}"]
    return y + p[f"l{layer}.b{name}"] if c.linear_bias else y


ACT = {
    "swiglu": Fn.silu, "geglu": Fn.gelu, "reglu": torch.relu, "swish": Fn.silu, "gelu": Fn.gelu,
    "relu": torch.relu, "gelutanh": lambda x: Fn.gelu(x, approximate="tanh"),
}
ACT["geglutanh"] = ACT["gelutanh"]


def feed_forward(c, p, l, x):
    hidden = ACT[c.act](linear(c, p, l, "1", x))
    if "glu" in c.act:
        return linear(c, p, l, "3", hidden * linear(c, p, l, "2", x))
    return linear(c, p, l, "2", hidden)


def frequencies(c, dtype):
    """Radians a position of each pair: base^(-2 i / r), stretched for a longer context."""
    freq = c.rope_base ** (-torch.arange(0, c.rotary_dims, 2, dtype=dtype) / c.rotary_dims)
    if c.rope_scaling == "linear":
        return freq / c.rope_factor
    if c.rope_scaling == "llama3":            # by turns in the original context: few are divided
        turns = c.rope_original * freq / (2 * math.pi)
        kept = ((turns - c.rope_low) / (c.rope_high - c.rope_low)).clamp(0, 1)
        return kept * freq + (1 - kept) * freq / c.rope_factor
    return freq


def rotate(c, x):
    """Turns pairs among the first r dims of x [B,H,N,D] by position times frequency."""
    r, n = c.rotary_dims, x.shape[-2]
    angle = torch.arange(n, dtype=x.dtype)[:, None] * frequencies(c, x.dtype)     # [N, r/2]
    cos, sin = angle.cos(), angle.sin()
    if c.rope_pairing == "half":
        a, b = x[..., :r // 2], x[..., r // 2:r]
        turned = torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
    else:
        a, b = x[..., 0:r:2], x[..., 1:r:2]
        turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
    return torch.cat((turned, x[..., r:]), -1)


def absolute_positions(rows, width, dtype):
    """sin, cos interleaved, position 0 first."""
    i = torch.arange(width)
    angle = torch.arange(rows, dtype=dtype)[:, None] * 10000.0 ** (-(i - i % 2).to(dtype) / width)
    return torch.where(i % 2 == 0, angle.sin(), angle.cos())


def bucket(n):
    """T5's causal bucket of a distance n >= 0: 32 buckets, maximum distance 128."""
    far = 16 + (16 * torch.log(n.clamp(min=16).double() / 16) / math.log(8)).long()
    return torch.where(n < 16, n, far.clamp(max=31))


def distance_bias(c, p, rows, dtype):
    """b_h(i - j) [H,N,N], or None; a key ahead of its query counts as distance 0."""
    i = torch.arange(rows)
    n = (i[:, None] - i[None, :]).clamp(min=0)
    if c.pos == "relative":
        return bucket(n).to(dtype).expand(c.heads, -1, -1)
    if c.pos == "t5":
        return p["rel"][bucket(n)].permute(2, 0, 1)
    if c.pos == "alibi":
        slope = 2.0 ** (-8.0 * torch.arange(1, c.heads + 1, dtype=dtype) / c.heads)
        return -slope[:, None, None] * n.to(dtype)
    return None


def visible(c, layer, rows):
    """Boolean [N,S]. Rows count real tokens from 1, so the last x* is row 0, if there is one."""
    i = torch.arange(rows) + 1 - c.sink_token
    j = i[None, :]
    i = i[:, None]
    seen = j <= i
    if c.window and (not c.window_period or layer % c.window_period == c.window_offset):
        seen = seen & (j > i - c.window)
    seen = seen | ((j >= 1) & (j <= c.prefix))
    star = torch.ones(rows, 1 if c.extra != "none" else 0, dtype=torch.bool)
    return torch.cat((star, seen), 1)


def live_dims(c):
    """1.0 for the learnable dims of k*, 0.0 for the frozen ones: [D]."""
    D, r, n = c.head_dim, c.rotary_dims, c.extra_dims
    order = list(range(D))
    if c.extra_order == "last":
        order = order[::-1]
    elif c.extra_order == "lowfreq":                       # unrotated dims, then the slowest pair
        half = c.rope_pairing == "half"
        pairs = [(i, i + r // 2) if half else (2 * i, 2 * i + 1) for i in range(r // 2)]
        order = [d for d in order if d >= r // 2 * 2] + [d for pair in pairs[::-1] for d in pair]
    live = torch.zeros(D, dtype=torch.float64)
    live[order[:n]] = 1
    return live


def kernel(c, p, layer, x):
    if c.kernel == "elu":
        return Fn.elu(x) + 1
    if c.kernel == "mlp":
        return torch.relu(x @ p[f"l{layer}.phi1"]) @ p[f"l{layer}.phi2"]
    return x


# ---- 4. attention --------------------------------------------------------------------------------

def change_scores(c, p, a, z, n):
    """What the rows before sim make of the keys' scores; n [N,1] keys are seen."""
    if c.soft_cap is not None:
        z = c.soft_cap * torch.tanh(z / c.soft_cap)
    if c.score_scale == "logn":
        z = p[a + "cscale"][:, None, None] * torch.log(n) * z
    if c.score_bias == "logn":
        z = z - torch.log(n)
    elif c.score_bias == "learned":
        z = z + p[a + "sbias"][:, None, None]
    return z


def attention_weights(c, z, seen, n):
    """s / Z and the metric m, both like z [B,H,N,S]; invisible entries are exactly 0."""
    if c.sim == "softpick":                                # expm1 on either side of 0
        z = z.masked_fill(~seen, 0.0)
        m = z.detach().amax(-1, keepdim=True).clamp(min=0)
        over, under = z.clamp(min=0), z.clamp(max=0)
        u = -torch.exp(over - m) * torch.expm1(-over) + torch.exp(-m) * torch.expm1(under)
        a = torch.relu(u) / (u.abs().sum(-1, keepdim=True) + 1e-8)
        return a, a
    if c.sim == "rectified":                               # softmax of the scores that are left
        left = seen & (z >= 0)
        some = left.any(-1, keepdim=True)
        a = torch.softmax(z.masked_fill(~left & some, -math.inf), -1).masked_fill(~left, 0.0)
        return a, a
    if c.sim == "exp":
        z = z.masked_fill(~seen, -math.inf)
        m = torch.softmax(z, -1)
        if c.normalizer == "sum":
            return m, m
        if c.normalizer == "pnorm":
            return torch.exp(z - torch.logsumexp(c.pnorm * z, -1, keepdim=True) / c.pnorm), m
        s = torch.exp(z)
    else:
        z = z.masked_fill(~seen, 0.0)
        s = {"sigmoid": torch.sigmoid(z), "elu": Fn.elu(z) + 1, "identity": z,
             "relu": torch.relu(z)}[c.sim]
        s = s.masked_fill(~seen, 0.0)
        m = s.abs() / (s.abs().sum(-1, keepdim=True) + 1e-8)
    if c.normalizer == "one":
        return s, m
    if c.normalizer == "count":
        return s / n, m
    total = s.sum(-1, keepdim=True)
    if c.normalizer == "sum":
        return s / (total + 1e-8), m
    if c.normalizer == "clamp":
        return s / torch.where(total.abs() > 1, total.abs(), torch.ones_like(total)), m
    # p-norm: s_max (sum |s / s_max|^p)^(1/p). Zeros are kept away from the powers, whose slope
    # there may be infinite, and a row of zeros has weights 0.
    top = s.detach().abs().amax(-1, keepdim=True)
    dead = top == 0
    u = s.abs() / top.masked_fill(dead, 1.0)
    power = torch.where(u > 0, u.masked_fill(u <= 0, 1.0) ** c.pnorm, torch.zeros_like(u))
    root = power.sum(-1, keepdim=True).masked_fill(dead, 1.0) ** (1 / c.pnorm)
    return (s / (top.masked_fill(dead, 1.0) * root)).masked_fill(dead, 0.0), m


def attention(c, p, layer, x, bias):
    """MHSA of x [B,N,C]; returns the output and a dict of what the dump shows."""
    B, N, _ = x.shape
    H, D, a = c.heads, c.head_dim, f"l{layer}."

    def heads(name, count):
        y = linear(c, p, layer, name, x).view(B, N, count, D).transpose(1, 2)
        return y.repeat_interleave(H // count, 1)                                 # [B,H,N,D]

    q, k, v = heads("q", H), heads("k", c.kv_heads), heads("v", c.kv_heads)
    if c.qk_norm:
        q, k = rms(c, q) * p[a + "qnorm"], rms(c, k) * p[a + "knorm"]
    if c.pos == "rotary":
        q, k = rotate(c, q), rotate(c, k)
    fq, fk = kernel(c, p, layer, q), kernel(c, p, layer, k)
    z = fq @ fk.transpose(-1, -2) / math.sqrt(D)
    if bias is not None:
        z = z + bias
    seen = visible(c, layer, N)
    n = seen[:, seen.shape[1] - N:].sum(-1, keepdim=True).to(x.dtype)             # [N,1]
    z = change_scores(c, p, a, z, n)

    gate = None
    if c.gate == "static":
        gate = torch.sigmoid(p[a + "gate"])[None, :, None, None].expand(B, H, N, 1)
    elif c.gate != "none":                                       # [B,H,N,1] or [B,H,N,D]
        gate = torch.sigmoid(x @ p[a + "wg"])
        gate = gate.view(B, N, -1, 1 if c.gate == "head" else D).transpose(1, 2)
        gate = gate.repeat_interleave(H // gate.shape[1], 1)
    if c.gate == "value":
        v = gate * v
    own = v

    if c.extra != "none":
        vstar = x.new_zeros(H, D)
        if c.extra in ("k", "kv"):
            kstar = (p[a + "kstar"] * live_dims(c).to(x.dtype)).expand(H, D)
            column = torch.einsum("bhnd,hd->bhn", fq, kstar) / math.sqrt(D)
        elif c.extra == "zero":
            column = x.new_zeros(B, H, N)
        elif c.extra == "logn":
            column = torch.log(n[:, 0]).expand(B, H, N)
        elif c.extra_logit is not None:
            column = x.new_full((B, H, N), c.extra_logit)
        else:
            column = p[a + "logit"].view(1, -1, 1).expand(B, H, N)
        if c.extra == "kv":
            vstar = p[a + "vstar"].expand(H, D)
        elif c.extra == "k" and c.extra_value == "e1":
            vstar[:, 0] = c.extra_norm
        elif c.extra == "k" and c.extra_value == "ones":
            vstar[:] = c.extra_norm / math.sqrt(D)
        z = torch.cat((column[..., None], z), -1)
        v = torch.cat((vstar[None, :, None].expand(B, H, 1, D), v), 2)

    w, m = attention_weights(c, z, seen, n)
    if (c.clip_low, c.clip_high) != (0, 1):
        w = ((c.clip_high - c.clip_low) * w + c.clip_low).clamp(0, 1)
    w = c.scale * w
    o = w @ v
    if c.xsa:
        o = o - (o * own).sum(-1, keepdim=True) * own / ((own * own).sum(-1, keepdim=True) + 1e-8)
    if c.vbias:
        o = o + p[a + "vplus"][:, None]
    if c.v_scale:
        o = o * p[a + "vscale"][:, None, None]
    if gate is not None and c.gate != "value":
        o = gate * o
    if c.head_norm:
        o = rms(c, o) * p[a + "hnorm"].view(H, 1, D)
    o = o.transpose(1, 2)                                                         # [B,N,H,D]
    o = o.reshape(B, N, H * D) if c.combine == "concat" else o.sum(2)
    shown = dict(q=q, k=k, z=z, seen=seen, attn=w, metric=m)
    if gate is not None:
        shown["gate"] = gate
    return linear(c, p, layer, "o", o), shown


# ---- 5. the model and its outputs ----------------------------------------------------------------

def forward(c, p, ids):
    """ids [B,T+1] -> dict of everything that a dump holds, but the gradients."""
    text, target = ids[:, :-1], ids[:, 1:]
    B, T = text.shape
    h = p["wte"][text]
    if c.embed_dim != c.dim:
        h = h @ p["win"]
    if c.sink_token:
        h = torch.cat((p["xstar"].expand(B, c.sink_token, -1), h), 1)
    N = h.shape[1]
    if c.pos == "learned":
        h = h + p["wpe"][:N]
    if c.pos == "absolute":
        h = h + absolute_positions(N, c.dim, h.dtype)
    bias = distance_bias(c, p, N, h.dtype)

    hidden, prenorm, shown = [h], [], []
    for l in range(c.layers):
        norm1 = lambda x: normalise(c, p, f"l{l}.norm1", x)
        norm2 = lambda x: normalise(c, p, f"l{l}.norm2", x)
        o, what = attention(c, p, l, h if c.place == "post" else norm1(h), bias)
        if c.place == "pre":
            u = h + o
            h = u + feed_forward(c, p, l, norm2(u))
        elif c.place == "sandwich":
            u = h + normalise(c, p, f"l{l}.norm3", o)
            h = u + normalise(c, p, f"l{l}.norm4", feed_forward(c, p, l, norm2(u)))
        elif c.place == "post":
            u = norm1(h + o)
            prenorm.append(u + feed_forward(c, p, l, u))
            h = norm2(prenorm[-1])
        else:
            h = h + o + feed_forward(c, p, l, norm2(h))
        hidden.append(h)
        shown.append(what)

    y = h[:, N - T:]
    if c.place != "post":
        y = normalise(c, p, "normf", y)
    if c.embed_dim != c.dim:
        y = y @ p["wout"]
    logits = y @ (p["wte"].T if c.tied else p["wcls"])
    first = max(c.prefix - 1, 0)                       # the prediction made at position p is scored
    loss = Fn.cross_entropy(logits[:, first:].flatten(0, 1), target[:, first:].flatten())

    out = {"loss": loss, "logits": logits, "hidden": torch.stack(hidden)}
    for name in ("attn", "metric", "z"):
        out[name] = torch.stack([what[name] for what in shown])[..., N - T:, :]   # the real rows
    for name in ("q", "k"):
        out[name] = torch.stack([what[name] for what in shown])
    if c.gate != "none":                          # [L,B,H,T], [L,B,H,T,D], or as k: [L,B,H,N,D]
        gate = torch.stack([what["gate"] for what in shown])
        gate = gate if c.gate == "value" else gate[..., N - T:, :]
        out["gate"] = gate[..., 0] if c.gate in ("head", "static") else gate
    out["alpha"] = alpha(out["metric"])
    out["seen"] = torch.stack([what["seen"][N - T:] for what in shown])           # [L,T,S]
    if prenorm:
        out["prenorm"] = torch.stack(prenorm)
    return out


def alpha(m):
    """alpha_k = sum_{i >= k} m_ik / (T - k + 1) for token k; * and x* average over all T rows."""
    T, S = m.shape[-2:]
    row, token = torch.arange(T)[:, None], torch.arange(S)[None, :] - (S - T)     # token from 0
    counted = row >= token                                                        # all of * and x*
    return torch.where(counted, m, torch.zeros_like(m)).sum(-2) / counted.sum(0)


def run(c, p, ids):
    """Outputs and gradients as NumPy arrays."""
    out = forward(c, p, ids)
    grads = torch.autograd.grad(out["loss"], list(p.values()), allow_unused=True)
    grads = {n: np.zeros(tuple(p[n].shape)) if g is None else g.numpy() for n, g in zip(p, grads)}
    return {name: x.detach().numpy() for name, x in out.items()}, grads


def muon_names(p):
    """The matrices of the blocks; all else is AdamW's."""
    own = "wq wk wv wo w1 w2 w3 phi1 phi2 wg".split()
    return [name for name in p if name.split(".")[-1] in own and name[0] == "l"]


def muon(w, g, buffer, lr, wd):
    """A step of Muon, in place; w and buffer [rows, columns]."""
    buffer.mul_(0.95).add_(g)
    x = g + 0.95 * buffer
    x = x / (x.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x - 4.7750 * square @ x + 2.0315 * square @ square @ x
    x = x.T if tall else x
    w.mul_(1 - lr * wd).sub_(0.2 * math.sqrt(max(w.shape)) * lr * x)


# ---- 6. checking and writing dumps ---------------------------------------------------------------

def differences(folder, flags=None):
    """[(name, difference, allowed, largest number)] of a dump's arrays; a text where it cannot be
    compared, as with another configuration than these flags. We compute in double; eps is the
    build's. An array may differ by 8 eps of its largest number (of a gradient: of all), and by
    20 times what ours moves when each parameter is moved by an eps at most and all is computed to
    eps: in single precision, then, and for a build in double scaled down."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        given = {key.replace("_", "-"): value for key, value in json.load(file).items()}
    absent = [key for key in REQUIRED if key not in given]
    if absent:
        return f"config.json lacks {', '.join(absent)}"
    c = resolve(given)[0]
    if flags is not None and resolve(parse(flags))[0] != c:
        return f"config.json has other flags: {c}"
    files = {name[:-4]: np.load(os.path.join(folder, name))
             for name in os.listdir(folder) if name.endswith(".npy")}
    p = {name[6:]: files.pop(name) for name in sorted(files) if name.startswith("param.")}
    found = {name: x.shape for name, x in p.items()}
    if found != table(c):
        return f"tensors or shapes of one side alone: {set(found.items()) ^ set(table(c).items())}"
    eps, single = float(np.finfo(p["wte"].dtype).eps), float(np.finfo(np.float32).eps)
    rng = np.random.default_rng(1)
    ids = torch.tensor(np.rint(files.pop("ids")).astype(np.int64))

    def arrays(by, dtype=torch.float64):
        moved = {name: x * (1 + by * rng.uniform(-1, 1, x.shape)) for name, x in p.items()}
        out, grads = run(c, {name: torch.tensor(x, dtype=dtype, requires_grad=True)
                             for name, x in moved.items()}, ids)
        seen = out.pop("seen")[:, None, None]              # z means nothing where a key is unseen
        if "z" in files:
            files["z"] = np.where(seen, files["z"], 0)
        out["z"] = np.where(seen, out["z"], 0)
        return {**out, **{"grad." + name: g for name, g in grads.items()}}

    ours, near = arrays(0), [arrays(single, torch.float32) for _ in range(6)]
    if "q" not in files:                                   # without --all
        ours = {n: x for n, x in ours.items() if n not in ("q", "k", "z", "gate", "prenorm")}
    if set(files) != set(ours):
        return f"arrays of one side alone: {sorted(set(files) ^ set(ours))}"
    slope, lines = max(float(np.abs(ours["grad." + name]).max()) for name in p), []
    for name, theirs in sorted(files.items()):
        x = ours[name]
        if x.shape != theirs.shape and x.ndim:
            return f"{name}: expected shape {x.shape}, found {theirs.shape}"
        far, size = float(np.abs(theirs - x).max()), float(np.abs(x).max())
        may = 1e-300 + 8 * eps * (slope if name.startswith("grad.") else size)
        may += 20 * max(float(np.abs(y[name] - x).max()) for y in near) * eps / single
        lines.append((name, far, may, size))
    return lines


def check(folder, quiet=False):
    """Compares one dump with our own forward and backward, prints lines, returns True if good."""
    found = differences(folder)
    if isinstance(found, str):
        print(f"{folder}  FAIL  {found}")
        return False
    bad = [name for name, far, may, _ in found if not far <= may]
    for name, far, may, size in found:
        if name in bad or not quiet:
            print(f"{folder}  {name:<20} {far:9.2e} apart, {may:9.2e} allowed, "
                  f"largest {size:9.2e}  {'BAD' if name in bad else 'ok'}")
    print(f"{folder}  {'FAIL' if bad else 'PASS'}  {len(bad)} of {len(found)} quantities differ")
    return not bad


def make(folder, given, seed=1, batch=2, tokens=0, dtype=torch.float64):
    """Writes what `sink dump --all` would write, for random parameters and ids."""
    c, full = resolve(given)
    p = random_parameters(c, seed, dtype)
    g = torch.Generator().manual_seed(seed + 1000)
    ids = torch.randint(c.vocab, (batch, (tokens or c.context) + 1), generator=g)
    out, grads = run(c, p, ids)
    os.makedirs(folder, exist_ok=True)
    files = {"param." + name: x.detach().numpy() for name, x in p.items()}
    files.update({"grad." + name: g for name, g in grads.items()})
    files.update({name: x for name, x in out.items() if name != "seen"})
    real = np.float32 if dtype == torch.float32 else np.float64
    for name, x in files.items():
        np.save(os.path.join(folder, name + ".npy"), x.astype(real))
    np.save(os.path.join(folder, "ids.npy"), ids.numpy().astype(np.int32))
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(full, file, indent=1)


# ---- 7. the twin's own tests ---------------------------------------------------------------------

# Together these meet every row of every axis.
TRIALS = """
(the baseline)
--pos none --norm layer --linear-bias --act gelu --kv-heads 2
--pos absolute --place post --norm layer --act relu --linear-bias
--pos learned --sink-token --place parallel --act gelutanh --tied
--pos relative --act geglu --window 3 --prefix 2 --sink-token
--pos t5 --act reglu --extra kv --extra-shared --context 40 --layers 1
--pos alibi --act swish --extra k --extra-value ones --extra-norm 3 --vbias --combine add
--extra kv --extra-dims 3 --extra-order lowfreq --head-dim 8 --rotary-dims 6
--extra k --extra-dims 3 --extra-order lowfreq --rope-pairing interleaved --rotary-dims 2
--extra k --extra-shared --extra-dims 2 --extra-order last --extra-value e1 --extra-norm 2
--extra zero --sink-token --scale 0.3 --vbias --head-dim 6 --embed-dim 20
--extra logit --window 4 --window-period 2 --window-offset 1 --layers 3 --embed-dim 12 --tied
--sim sigmoid --normalizer one --extra kv
--sim sigmoid --sink-token --prefix 3
--sim elu --normalizer sum --rope-base 100 --act geglutanh
--rope-scaling linear --rope-factor 3 --rotary-dims 4 --head-dim 6
--rope-scaling llama3 --rope-base 100 --rope-original 64 --rope-factor 4 --head-dim 8
--sim elu --normalizer one --place post
--sim sigmoid --normalizer pnorm --pnorm 0.5 --extra zero
--sim identity --normalizer pnorm --pnorm 3 --window 4
--kernel elu --sim identity --normalizer sum
--kernel elu --sim identity --normalizer one --combine add
--sim identity --normalizer clamp --extra k
--sim identity --normalizer one --scale 0.5
--kernel mlp --sim identity --normalizer clamp --kv-heads 1
--kernel mlp --sim identity --normalizer one --extra logit
--normalizer pnorm --pnorm 2 --extra k
--normalizer pnorm --pnorm 0.5
--normalizer one --scale 0.2
--normalizer clamp --extra kv
--sim softpick --sink-token 3 --soft-cap 2 --vbias
--sim softpick --extra k --score-bias learned --clip-low -0.05 --clip-high 1.1
--sim rectified --extra zero --score-scale logn --gate head --v-scale
--sim rectified --xsa --gate value --kv-heads 2 --linear-bias --pos t5
--sim relu --normalizer count --score-bias logn --extra kv --prefix 3 --window 3
--sim relu --normalizer pnorm --pnorm 2 --gate static --norm dyt
--sim sigmoid --normalizer count --extra logit --extra-logit -0.5 --head-norm --combine add
--clip-low -0.1 --clip-high 1.2 --gate element --xsa --sink-token 2 --pos learned
--qk-norm --head-norm --place sandwich --norm layer --extra logn --score-scale logn
--qk-norm --place sandwich --norm dyt --kernel mlp --soft-cap 1 --score-bias learned --gate head
"""


def parse(text):
    """'--pos none --tied' -> {'pos': 'none', 'tied': True}"""
    words, given = [w for w in text.split() if not w.startswith("(")] if "(" not in text else [], {}
    for i, word in enumerate(words):
        if word.startswith("--"):
            valued = i + 1 < len(words) and not words[i + 1].startswith("--")
            given[word[2:]] = words[i + 1] if valued else True
    return given


def finite_difference_error(c, p, ids, step=1e-5):
    """Largest error of <gradient, direction> over all tensors, against a central difference."""
    grads, worst = run(c, p, ids)[1], 0.0
    scale = max(np.linalg.norm(g) for g in grads.values())
    for name, x in p.items():
        way = torch.randn(x.shape, generator=torch.Generator().manual_seed(7), dtype=x.dtype)
        way /= way.norm()
        ends = [forward(c, {**p, name: x.detach() + sign * step * way}, ids)["loss"].item()
                for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        worst = max(worst, abs(slope - float((grads[name] * way.numpy()).sum())) / scale)
    return worst


def selftest():
    failures = 0

    def expect(name, got, want=0.0, tol=1e-10):
        nonlocal failures
        gap = float(np.abs(np.asarray(got, float) - np.asarray(want, float)).max())
        failures += not gap <= tol
        print(f"{'ok ' if gap <= tol else 'BAD'}  {gap:8.1e} (bound {tol:.0e})  {name}")

    def repeated(text, T=64, ids=None, **tensors):
        """Outputs for one token repeated T times; tensors overrides parameters by leaf name."""
        c, _ = resolve({"heads": 8, "dim": 32, "context": T, **parse(text)})
        p = {n: tensors.get(n.split(".")[-1], x) for n, x in random_parameters(c, 3).items()}
        return run(c, p, torch.full((1, T + 1), 5) if ids is None else ids)[0]

    print("gradients against central differences, in directions drawn for each tensor")
    with tempfile.TemporaryDirectory() as folder:
        for text in TRIALS.strip().splitlines():
            given = {"context": 8, "dim": 16, "heads": 4, "ffn": 12, "vocab": 11, **parse(text)}
            c, _ = resolve(given)
            g = torch.Generator().manual_seed(5)
            ids = torch.randint(c.vocab, (2, c.context + 1), generator=g)
            expect(text, finite_difference_error(c, random_parameters(c, 2), ids), tol=1e-8)
            make(folder + "/" + str(len(os.listdir(folder))), given)
        print("the loader: every dump above must pass, and one wrong number must not")
        every = sorted(os.listdir(folder))
        path = f"{folder}/{every[0]}/grad.l1.wv.npy"
        with contextlib.redirect_stdout(io.StringIO()):
            passed = [check(f"{folder}/{name}") for name in every]
            x = np.load(path)
            x[0, 0] += 1e-5 * np.abs(x).max()
            np.save(path, x)
            wrong = check(f"{folder}/{every[0]}")
        expect("dumps that pass", sum(passed), len(every))
        expect("a changed gradient passes", wrong)

    print("numbers known in closed form, T = 64, one token repeated (every layer and head)")
    H = np.cumsum(1 / np.arange(1, 65))                                           # harmonic numbers
    a1 = lambda text, **t: repeated(text, **t)["alpha"][:, 0, :, 0]
    expect("alpha_1, no positions: H_64 / 64", a1("--pos none"), 0.07412329537)
    expect("alpha_1, alibi, heads 1 to 8", a1("--pos alibi"),
           [.028252, .035957, .044729, .053974, .062023, .067492, .070658, .072353], 1e-6)
    expect("alpha_1, the authors' bucket bias", a1("--pos relative"), 0.33395803945)
    expect("first distance of buckets 16 to 31",
           [min(n for n in range(200) if bucket(torch.tensor(n)) == b) for b in range(16, 32)],
           [16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113])
    for w, want in ((8, .0424665), (16, .0528239), (32, .0634140)):
        expect(f"alpha_1, window {w}", a1(f"--pos none --window {w}"), want, 1e-7)
    for p in (2, 3, 4, 5, 10):
        expect(f"alpha_1, prefix {p}", a1(f"--pos none --prefix {p}"), (1 + H[63] - H[p - 1]) / 64)
    expect("alpha_5, prefix 5, rows i >= 5 only",
           repeated("--pos none --prefix 5")["alpha"][..., 4], 0.0443, 1e-4)
    t = np.arange(1, 65)
    for power in (2, 0.5):
        rows = repeated(f"--pos none --layers 1 --normalizer pnorm --pnorm {power}")["attn"].sum(-1)
        expect(f"row sums, p-norm {power}: t^(1 - 1/p)", rows / t ** (1 - 1 / power), 1)
    out = repeated("--pos none --extra k --layers 1")
    s = np.exp(out["z"])
    expect("K bias, layer 1: e^s* / (e^s* + t e^s)", out["attn"][..., 0],
           s[..., 0] / (s[..., 0] + t * s[..., 1]))
    for text in ("", "--pos alibi --place post", "--pos t5 --window 5 --scale 0.3", "--vbias"):
        h = repeated(text)["hidden"]
        expect(f"equal states {text}", (h - h[:, :, :1]) / np.abs(h).max())
    h = repeated("--sim sigmoid")["hidden"]
    expect("equal states --sim sigmoid (1e-8 in Z)", (h - h[:, :, :1]) / np.abs(h).max(), tol=1e-6)

    print("identities between variants")
    ids = torch.randint(29, (2, 17), generator=torch.Generator().manual_seed(9))
    logits = lambda text, **t: repeated(text, ids=ids, **t)["logits"]
    zero = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    expect("a learned logit of 0 is the zero column",
           logits("--extra logit", logit=zero), logits("--extra zero"))
    expect("one head: addition is concatenation",
           logits("--heads 1 --combine add"), logits("--heads 1"))
    expect("p = 1 is the plain sum", logits("--normalizer pnorm --pnorm 1"), logits(""))
    expect("fixed v* of norm 0", logits("--extra k --extra-value e1 --extra-norm 0"),
           logits("--extra k --extra-value zero"))
    expect("a window of the whole context", logits("--window 64"), logits(""))
    expect("a prefix of 1 is causal", logits("--prefix 1"), logits(""))
    expect("a logit fixed at 0 is the zero column",
           logits("--extra logit --extra-logit 0"), logits("--extra zero"))
    expect("z - log n beside a zero column is a column of log n",
           logits("--extra zero --score-bias logn"), logits("--extra logn"))
    expect("softmax does not see a shift", logits("--score-bias logn"), logits(""))
    expect("a cap far above the scores", logits("--soft-cap 1e6"), logits(""), 1e-8)
    expect("a window of 1: log n is 0, so softpick gives nothing",
           repeated("--sim softpick --score-scale logn --window 1", ids=ids)["attn"], tol=0)
    out = repeated("--sim softpick --extra logit --layers 1", ids=ids)
    u = np.where(out["seen"][:, None, None], np.exp(out["z"]) - 1, 0)
    expect("softpick, as written", out["attn"],
           np.maximum(u, 0) / np.abs(u).sum(-1, keepdims=True), 1e-7)
    out = repeated("--sim rectified --extra logit --layers 1", ids=ids)
    u = np.where(out["seen"][:, None, None] & (out["z"] >= 0), np.exp(out["z"]), 0)
    expect("rectified, as written", out["attn"],
           u / np.maximum(u.sum(-1, keepdims=True), 1e-300), 1e-10)
    one = torch.ones(8, dtype=torch.float64, requires_grad=True)
    expect("a V-scale of 1", logits("--v-scale", vscale=one), logits(""))
    expect("gates that are open", logits("--gate static", gate=40 * one), logits(""))
    expect("half open gates are a scale", logits("--gate static", gate=zero), logits("--scale 0.5"))
    w, m = torch.eye(3, 5, dtype=torch.float64), torch.zeros(3, 5, dtype=torch.float64)
    tall, sent = w.T.clone(), m.T.clone()
    muon(w, torch.eye(3, 5, dtype=torch.float64), m, 0.1, 0.5)
    muon(tall, torch.eye(5, 3, dtype=torch.float64), sent, 0.1, 0.5)
    x = 1 / math.sqrt(3)
    for _ in range(5):
        x = 3.4445 * x - 4.7750 * x ** 3 + 2.0315 * x ** 5
    expect("a step of Muon on the identity", w,
           np.eye(3, 5) * (1 - 0.05 - 0.02 * math.sqrt(5) * x), 1e-6)
    expect("and on its transpose", tall, w.T)
    c, _ = resolve(parse("--sim sigmoid --normalizer one --extra k"))
    _, g = run(c, random_parameters(c, 4), ids)
    expect("K bias under Z = 1: gradient of k* exactly 0", g["l0.kstar"], tol=0)

    slow = "--extra-order lowfreq --extra-dims 3 "
    first = lambda text: np.flatnonzero(live_dims(resolve(parse(slow + text))[0]))
    expect("lowfreq, 3 of 8 dims, half", first(""), [2, 3, 7])
    expect("lowfreq, 3 of 8 dims, interleaved",
           first("--rope-pairing interleaved"), [4, 6, 7])
    expect("lowfreq, 3 of 8 dims, 6 rotated", first("--rotary-dims 6"), [2, 6, 7])

    print("sizes")
    size = lambda text: [math.prod(s) for s in table(resolve(parse(text))[0]).values()]
    paper = "--layers 10 --dim 768 --heads 8 --ffn 1536 --vocab 50432 --context 2048"
    expect("parameters of the 60M model", sum(size(paper)), 136462080)
    expect("without embeddings, relu ffn", sum(size(paper + " --act relu")) - 77463552, 47202048)
    billion = "--layers 22 --dim 2048 --heads 16 --ffn 5632 --vocab 50432 --context 2048"
    expect("parameters of the 1B model", sum(size(billion)), 1337026560)
    print("all good" if not failures else f"{failures} failures")
    return failures == 0


# ---- 8. the command line -------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("dirs", nargs="*", metavar="DIR", help="dumps to check")
    parser.add_argument("--dtype", choices=("f8", "f4"), default="f8", help="for --make")
    parser.add_argument("--quiet", action="store_true", help="print only what is wrong")
    parser.add_argument("--make", metavar="DIR", help="write a dump instead")
    parser.add_argument("--selftest", action="store_true")
    for name, value in (("seed", 1), ("batch", 2), ("tokens", 0)):
        parser.add_argument("--" + name, type=int, default=value, help="for --make")
    for name, value in DEFAULTS.items():
        if isinstance(value, bool):
            parser.add_argument("--" + name, action="store_true", default=None)
        else:
            parser.add_argument("--" + name, type=type(value), help=f"for --make ({value})",
                                choices=CHOICES[name].split() if name in CHOICES else None)
    args = vars(parser.parse_args())
    dtype = torch.float32 if args["dtype"] == "f4" else torch.float64
    torch.set_num_threads(1)
    if args["selftest"]:
        return 0 if selftest() else 1
    if args["make"]:
        given = {key: value for key, value in args.items() if key.replace("_", "-") in DEFAULTS}
        make(args["make"], given, args["seed"], args["batch"], args["tokens"], dtype)
        return 0
    if not args["dirs"]:
        parser.error("name a DIR, or use --make or --selftest")
    return 0 if all([check(d, args["quiet"]) for d in args["dirs"]]) else 1


if __name__ == "__main__":
    sys.exit(main())
