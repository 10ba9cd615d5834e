# SPDX-License-Identifier: MIT
"""Kernels for check_torch.py that prove.py tries: autograd through forms that are nothing like sink.c's loops."""
import sys
try:
    import torch
except ImportError:
    sys.exit("prove_torch.py: expected PyTorch, found none. Try: pip install torch")
import torch.nn.functional as F


def twin(q, k, v, c):
    """Every operator as its formula reads: rows with the sink's column in front, softmax by torch. The gradients that
    autograd finds are the vectors' second witness."""
    k, v = (x.repeat_interleave(c.heads // c.kv_heads, 1) for x in (k, v))
    z = q @ k.mT * c.scale
    if c.slopes:
        i, j = torch.arange(c.queries)[:, None] + c.offset, torch.arange(c.keys)
        z = z - torch.tensor(c.slopes, dtype=q.dtype)[:, None, None] * (i - j).clamp(min=0)
    if c.soft_cap:
        z = c.soft_cap * torch.tanh(z / c.soft_cap)
    if c.operator == "sigmoid":
        return torch.where(c.mask, z.sigmoid(), 0.0) @ v
    if c.operator == "clamp":
        s = torch.where(c.mask, z, 0.0)
        return s / s.sum(-1, keepdim=True).abs().clamp(min=1) @ v
    if c.operator == "softpick":
        m = torch.where(c.mask, z, -torch.inf).amax(-1, keepdim=True).clamp(min=0).detach()
        u = torch.where(c.mask, (z - m).exp() - (-m).exp(), 0.0)
        return u.relu() / (u.abs().sum(-1, keepdim=True) + 1e-8) @ v
    z = torch.where(c.mask, z, -torch.inf)
    zeros = q.new_zeros(c.batch, c.heads, c.queries, 1)
    if c.sink is not None:
        z = torch.cat([zeros + c.sink[:, None, None], z], -1)
    elif c.kstar is not None:
        star = c.kstar if c.operator != "kv-bias-dims" else torch.cat([c.kstar[:, :4], c.kstar[:, 4:].detach()], 1)
        z = torch.cat([(q * star[:, None]).sum(-1, keepdim=True) * c.scale, z], -1)
    elif c.operator == "zero":
        z = torch.cat([zeros, z], -1)
    if z.shape[-1] > c.keys:
        first = torch.zeros_like(v[:, :, :1]) if c.vstar is None else c.vstar[:, None].expand(c.batch, -1, 1, -1)
        v = torch.cat([first, v], 2)
    seen = (z > -torch.inf).any(-1, keepdim=True)
    z = torch.where(seen, z, 0.0)                                        # of a row that sees nothing
    lse = torch.where(seen, z.logsumexp(-1, keepdim=True), -torch.inf)
    o = torch.where(seen, z.softmax(-1), 0.0) @ v
    return (o if c.gate is None else o * c.gate[..., None].sigmoid()), lse[..., 0]


def rescaled(q, k, v, c, through_lse=True):
    """softmax(z) v sigma(lse - sink): exact, as long as gradients go through lse (torchtitan 2211, 4796)."""
    if c.sink is None or c.lengths or c.offset < 0 or c.soft_cap or c.slopes:
        raise NotImplementedError
    k, v = (x.repeat_interleave(c.heads // c.kv_heads, 1) for x in (k, v))
    z = torch.where(c.mask, q @ k.mT * c.scale, -torch.inf)
    lse = z.logsumexp(-1)
    gate = torch.sigmoid((lse if through_lse else lse.detach()) - c.sink[:, None])
    return z.softmax(-1) @ v * gate[..., None], torch.logaddexp(lse, c.sink[:, None].expand_as(lse))


def detached(q, k, v, c):
    return rescaled(q, k, v, c, through_lse=False)


def without_sink(q, k, v, c):
    """A backend that takes the sink and drops it: autograd finds no path to it."""
    if c.sink is None or c.lengths or c.offset < 0 or c.soft_cap or c.slopes:
        raise NotImplementedError
    k, v = (x.repeat_interleave(c.heads // c.kv_heads, 1) for x in (k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=c.mask, scale=c.scale)


RIGHT = [("autograd through the formulas", twin, 143), ("softmax rescaled by sigma(lse - sink)", rescaled, 20)]
WRONG = [("lse-detached, by autograd", detached, "logit-by-hand"), ("sink-dropped, by autograd", without_sink, "logit-square")]
