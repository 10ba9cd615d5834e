#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A PyTorch kernel of attention with a sink, held to the vectors:  check_torch.py [--kernel FILE] [CASE ..]

FILE defines attention(q, k, v, c), which returns o, or o and lse, or a dict of them; c is the case (README.md), where sink, kstar, vstar and
gate are tensors, and raises NotImplementedError for what it does not do. Where o has a gradient, autograd's are compared
too; one that is missing counts as 0. --type, --device, --cases FOLDER; CASE: the beginning of a case's name."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import torch
except ImportError:
    sys.exit("check_torch.py: expected PyTorch, found none. Try: pip install torch, or check_numpy.py")
from check_numpy import main, run

LEAVES = "q k v sink kstar vstar gate".split()


def attention(q, k, v, c):
    """The example: scaled_dot_product_attention with a null key, whose score is the sink and whose value is 0."""
    if c.operator not in ("softmax", "logit", "window", "grouped", "prefix", "sink-token", "sink-tokens"):
        raise NotImplementedError
    k, v = (x.repeat_interleave(c.heads // c.kv_heads, 1) for x in (k, v))
    bias = torch.zeros(c.mask.shape, dtype=q.dtype, device=q.device).masked_fill(~c.mask, -torch.inf)
    bias = bias.expand(c.batch, c.heads, -1, -1)
    if c.sink is not None:
        bias = torch.cat([c.sink[:, None, None].expand(c.batch, -1, c.queries, 1), bias], -1)
        k, v = (torch.cat([torch.zeros_like(x[:, :, :1]), x], 2) for x in (k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=c.scale)


def through(attention, kind, device="cpu"):
    """kernel(c) of check_numpy.py by a function of tensors, with the gradients that autograd has."""
    def kernel(c):
        t = {n: torch.tensor(x, dtype=getattr(torch, kind), device=device) for n, x in c.inputs.items() if x is not None}
        for name in c.inputs:
            setattr(c, name, t[name].requires_grad_() if name in t and name in LEAVES else t.get(name))
        c.mask = torch.as_tensor(c.mask, device=device)
        got = attention(c.q, c.k, c.v, c)
        got = got if isinstance(got, dict) else dict(zip(("o", "lse"), got if isinstance(got, (tuple, list)) else (got,)))
        o, lse = got["o"], got.get("lse")
        if c.dlse is not None and (lse is None or not lse.requires_grad):
            raise NotImplementedError                                   # a loss of lse is not for it
        found = dict(got)
        if o.requires_grad:
            ends, into = ([o], [c.do.to(o.dtype)]) if c.dlse is None else ([o, lse], [c.do.to(o.dtype), c.dlse.to(lse.dtype)])
            leaves = [n for n in LEAVES if n in t]
            gradients = torch.autograd.grad(ends, [t[n] for n in leaves], into, allow_unused=True)
            found.update({"d" + n: torch.zeros_like(t[n]) if g is None else g for n, g in zip(leaves, gradients)})
        return {n: x.detach().double().cpu().numpy() for n, x in found.items() if x is not None}
    return kernel


if __name__ == "__main__":
    a, attention = main(attention, ["float32", "float64", "bfloat16", "float16"], "attention", "cpu")
    passed, failed, *_ = run(through(attention, a.type, a.device), a.cases, a.type, a.words)
    sys.exit(failed > 0 or not passed)
