#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""That the vectors bite, and that right kernels pass:  prove.py [--cases FOLDER]

Right kernels of different shape must pass every case they do; each mistake of mistakes.py must be caught by the case it
names, and recognised. Beside PyTorch also: autograd's gradients of a naive form, and kernels for check_torch.py."""
import argparse, os, sys
try:
    import numpy as np
except ImportError:
    sys.exit("prove.py: expected NumPy, found none. Try: pip install numpy")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mistakes
from check_numpy import HERE, compare, load, run

quiet = lambda *_: None
passed, failed = 0, 0


def verdict(good, text):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"{text:100} {'ok' if good else 'FAIL'}")


def online(c):
    """Softmax over blocks of 3 keys with a running maximum that starts at the sink, and a backward from lse and <do, o>."""
    if c.operator in ("sigmoid", "clamp", "softpick", "gate", "soft-cap") or c.kstar is not None:
        raise NotImplementedError
    head, see, t = np.arange(c.heads) // (c.heads // c.kv_heads), mistakes.visible(c), c.q.dtype.type
    see = np.broadcast_to(see, (c.batch, c.heads, c.queries, c.keys))
    k, v, blocks = c.k[:, head], c.v[:, head], range(0, c.keys, 3)
    sink = {"logit": c.sink, "zero": np.zeros(c.heads, c.q.dtype)}.get("zero" if c.operator == "zero" else "logit")
    sink = np.full(c.heads, -np.inf, c.q.dtype) if sink is None else sink
    m = np.broadcast_to(sink[:, None], (c.batch, c.heads, c.queries)).astype(c.q.dtype)
    l, o = (m > -np.inf).astype(c.q.dtype), np.zeros_like(c.q)

    def scores(j):
        z = c.q @ k[:, :, j:j + 3].swapaxes(-1, -2) * t(c.scale)
        if c.slopes:
            far = np.maximum(np.arange(c.queries)[:, None] + c.offset - np.arange(j, min(j + 3, c.keys)), 0)
            z = z - np.array(c.slopes, c.q.dtype)[:, None, None] * far.astype(c.q.dtype)
        return np.where(see[..., j:j + 3], z, t(-np.inf))
    for j in blocks:
        z = scores(j)
        new = np.maximum(m, z.max(-1))
        safe = np.where(new > -np.inf, new, t(0))
        p, keep = np.exp(z - safe[..., None]), np.exp(m - safe)
        m, l, o = new, l * keep + p.sum(-1), o * keep[..., None] + p @ v[:, :, j:j + 3]
    with np.errstate(divide="ignore"):
        o, lse = o / np.where(l > 0, l, t(1))[..., None], np.where(l > 0, m + np.log(l), t(-np.inf))
    delta = (c.do * o).sum(-1) - (0 if c.dlse is None else c.dlse)
    dq, dk, dv, safe = np.zeros_like(c.q), np.zeros_like(k), np.zeros_like(v), np.where(lse > -np.inf, lse, t(0))
    for j in blocks:
        p = np.exp(scores(j) - safe[..., None])
        dz = p * (c.do @ v[:, :, j:j + 3].swapaxes(-1, -2) - delta[..., None]) * t(c.scale)
        dq += dz @ k[:, :, j:j + 3]
        dk[:, :, j:j + 3], dv[:, :, j:j + 3] = dz.swapaxes(-1, -2) @ c.q, p.swapaxes(-1, -2) @ c.do
    group = lambda x: x.reshape(c.batch, c.kv_heads, -1, c.keys, c.dim).sum(2)
    return {"o": o, "lse": lse, "dq": dq, "dk": group(dk), "dv": group(dv),
            "dsink": -(np.exp(sink[:, None] - safe) * delta).sum((0, 2))}


def split(c):
    """Two halves of the keys, each a softmax of its own without a sink, merged by their lse; then o sigma(lse - sink)."""
    if c.operator in ("sigmoid", "clamp", "softpick", "gate", "soft-cap", "alibi") or c.kstar is not None:
        raise NotImplementedError
    head, t = np.arange(c.heads) // (c.heads // c.kv_heads), c.q.dtype.type
    see = np.broadcast_to(mistakes.visible(c), (c.batch, c.heads, c.queries, c.keys))
    parts = []
    for half in (slice(0, c.keys // 2), slice(c.keys // 2, c.keys)):
        z = c.q @ c.k[:, head, half].swapaxes(-1, -2) * t(c.scale)
        z = np.where(see[..., half], z, t(-np.inf))
        m = z.max(-1, initial=-np.inf)
        p = np.exp(z - np.where(m > -np.inf, m, t(0))[..., None])
        with np.errstate(divide="ignore"):
            parts.append((p @ c.v[:, head, half] / np.maximum(p.sum(-1), t(1e-30))[..., None], m + np.log(p.sum(-1))))
    lse = np.logaddexp(parts[0][1], parts[1][1])
    with np.errstate(invalid="ignore"):
        o = sum(np.where(l > -np.inf, np.exp(l - lse), t(0))[..., None] * o for o, l in parts)
    if c.sink is None and c.operator != "zero":
        return {"o": o, "lse": lse, "lse_keys": lse}
    b = (np.zeros(c.heads, c.q.dtype) if c.sink is None else c.sink)[:, None]
    whole = np.logaddexp(lse, b)
    with np.errstate(invalid="ignore", over="ignore"):
        gate = np.where(lse > -np.inf, np.exp(lse - whole), t(0))
    return {"o": o * gate[..., None], "lse": whole, "lse_keys": lse}


def caught(folder, name, text, case, words):
    """The cases that fail for a mistake, of those that begin with `words`; whether the named one is recognised."""
    def wrong(c):
        return {n: x for n, x in mistakes.kernel(c, name).items() if n != "lse_keys"}
    lines = []
    with np.errstate(all="ignore"):
        bad = run(wrong, folder, "float64", words, out=quiet, tell=False)[3]
        run(wrong, folder, "float64", [case], out=lines.append)
    return bad, any("looks like: " + text in line for line in lines)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cases", default=os.path.join(HERE, "../../../out/vectors"))
    p.add_argument("--all", action="store_true", help="count all cases that catch a mistake")
    a = p.parse_args()
    folder = a.cases
    for name, kernel in (("naive rows", mistakes.kernel), ("online softmax in blocks", online), ("halves merged by lse", split)):
        for kind in ("float64", "float32"):
            with np.errstate(all="ignore"):
                good, bad, skipped, names = run(kernel, folder, kind, out=quiet)
            verdict(good > 20 and not bad, f"right, {name}, {kind}: {good} pass, {skipped} skipped {' '.join(names)}")
    for name, text, seen, case in mistakes.MISTAKES:
        bad, told = caught(folder, name, text, case, () if a.all else [case])
        note = "" if case in bad and told else f", not {case}: {' '.join(bad[:5])}" if case not in bad else ", not recognised"
        verdict(not note, f"wrong, {name}: caught by {case}{f' and {len(bad) - 1} more' * a.all}{note}")
    torch_too(folder)


def torch_too(folder):
    try:
        import torch
    except ImportError:
        print("no PyTorch here: autograd and scaled_dot_product_attention are not asked")
        return
    from check_torch import attention, through
    from prove_torch import RIGHT, WRONG
    for name, kernel, least in RIGHT + [("scaled_dot_product_attention with a null key", attention, 60)]:
        for kind in ("float64", "float32") + (("bfloat16", "float16") if kernel is attention else ()):
            good, bad, skipped, names = run(through(kernel, kind), folder, kind, out=quiet)
            verdict(good >= least * (kind != "float16") and good and not bad,
                    f"right, {name}, {kind}: {good} pass, {skipped} skipped {' '.join(names)}")
    for name, kernel, case in WRONG:
        lines = []
        bad = run(through(kernel, "float64"), folder, "float64", [case], out=lines.append)[3]
        text = dict(m[:2] for m in mistakes.MISTAKES)[name.split(",")[0]]
        verdict(bad and any(text in line for line in lines), f"wrong, {name}: caught by {case}")


if __name__ == "__main__":
    main()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
