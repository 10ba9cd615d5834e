# SPDX-License-Identifier: MIT
"""Mistakes that kernels of attention with a sink make: one right kernel in NumPy, forward and backward, and at each place
where one is made, what it then computes. check_numpy.py tells by them what a failure looks like, prove.py that each is
caught. A row: name, what is wrong, where it was seen, a case that must catch it. Masks and letters: README.md."""
import sys
try:
    import numpy as np
except ImportError:
    sys.exit("mistakes.py: expected NumPy, found none. Try: pip install numpy")

MISTAKES = [                                                             # name, text, seen in, caught by
    ("sink-dropped", "the sink is left out of the sum", "vllm 52156, transformers 42736, TransformerEngine 3551", "logit-square"),
    ("sink-dropped-decode", "the sink is left out of the sum where there is one query", "kekzl/imp 1303", "logit-decode"),
    ("dsink-zero", "the sink has no gradient", "flash-attention 1895, 1973, 2102; TransformerEngine 2541", "logit-by-hand"),
    ("lse-detached", "no gradient of q and k goes through the log-sum-exp that meets the sink (or delta is <do, o> of an o "
     "not yet divided by the sum with it)", "torchtitan 4796", "logit-by-hand"),
    ("dv-no-sink", "dv by the weights without the sink", "", "logit-square"),
    ("backward-no-sink", "the backward's weights are e^(z - lse_keys), without the sink", "", "logit-square"),
    ("dsink-sign", "the sink's gradient has the wrong sign", "", "logit-by-hand"),
    ("dsink-one-batch", "the sink's gradient is not summed over the sequences", "rocm-libraries 10519", "logit-square"),
    ("dsink-last-query", "the sink's gradient is the last query's, not summed over queries", "", "logit-square"),
    ("dsink-mean", "the sink's gradient is a mean over queries, not a sum", "", "logit-square"),
    ("sink-scaled", "the scale is applied to the sink", "rocm-libraries 12227", "logit-square"),
    ("sink-scaled-through", "the scale is applied to the sink", "by autograd", "logit-square"),
    ("sink-base-2", "the sink is read as a power of 2: log2(e) is forgotten", "", "logit-square"),
    ("sink-base-2-through", "the sink is read as a power of 2: log2(e) is forgotten", "autograd", "logit-square"),
    ("sink-twice", "the sink is counted twice, in both halves of the keys", "rocm-libraries 12227", "logit-square"),
    ("nan-no-keys", "a row that sees no key gives NaN", "flash-attention 2752", "softmax-early"),
    ("sink-not-in-max", "the sink is not among the scores of which the largest is taken", "flash-attention 2752", "logit-sink-1e4"),
    ("sink-unshifted", "e^sink, or 1, is added to a sum of e^(z - max)", "AttentionIsOFFByOne 5", "zero-square"),
    ("sink-clamped", "the factor sigma(lse - sink) is clamped at e^-20", "torchtitan 2211", "logit-sink-100"),
    ("weights-flushed", "weights below e^-20 of the largest become 0", "llama.cpp 15157", "logit-sink-20"),
    ("sink-on-key-0", "the sink is added to key 0's score instead of the sum", "vllm 49815", "logit-square"),
    ("heads-reversed", "heads in another order: the sinks of heads H-1 .. 0", "", "logit-sinks-mixed"),
    ("sink-by-row", "heads in another order: row % H is taken for the head", "modular 6591", "logit-square"),
    ("sink-by-key-head", "heads in another order: the sink of a key head for its whole group", "sgl-kernel-xpu 254", "grouped-square"),
    ("key-head-interleaved", "heads in another order: query head h reads key head h % K", "", "grouped-square"),
    ("group-not-summed", "dk and dv are one query head's, not summed over its group", "", "grouped-square"),
    ("lengths-ignored", "keys beyond a sequence's length are read", "", "logit-no-keys"),
    ("finite-minus-inf", "the running maximum starts at -5e4, a number and not -inf", "flashinfer 4267", "softmax-scores-minus-1e5"),
    ("finite-mask", "masked scores are -1e4, a number and not -inf", "", "softmax-scores-minus-1e5"),
    ("causal-top-left", "the mask ignores the offset: queries are taken for the first of the cache", "", "logit-tail"),
    ("window-long", "window off by one: w + 1 keys", "LightLLM 1312", "window-square"),
    ("window-short", "window off by one: w - 1 keys", "", "window-square"),
    ("window-top-left", "the window ignores the offset", "", "window-tail"),
    ("sink-dropped-window", "the sink is left out of the sum where there is a window", "vllm 49815, prime-rl 3397", "window-square"),
    ("tokens-forgotten", "a window forgets the sink tokens", "", "sink-tokens-square"),
    ("prefix-causal", "a prefix is causal", "", "prefix-square"),
    ("scale-default", "1/sqrt(D) for the scale that was given", "", "logit-scale"),
    ("scale-no-backward", "the scale is forgotten in the backward of q and k", "", "logit-square"),
    ("dlse-ignored", "the gradient that comes in through lse is ignored", "asked for in flash-attention 2706", "logit-dlse"),
    ("lse-no-sink", "lse without the sink: lse_keys (a convention; call it so)", "", "logit-square"),
    ("lse-base-2", "lse in base 2", "", "softmax-square"),
    ("cap-on-sink", "the soft-cap is applied to the sink", "rocm-libraries 12229", "soft-cap-sinks-mixed"),
    ("cap-on-sink-through", "the soft-cap is applied to the sink", "by autograd", "soft-cap-sinks-mixed"),
    ("cap-overflows", "the soft-cap's tanh is made of exponentials that overflow", "vllm 56578", "soft-cap-scores-minus-1e5"),
    ("cap-no-slope", "the soft-cap has no slope in the backward", "", "soft-cap-by-hand"),
    ("star-unscaled", "k*'s score is not scaled", "", "null-key-square"),
    ("star-unscaled-through", "k*'s score is not scaled", "by autograd", "null-key-square"),
    ("star-value", "the null key has a value: v* where there is none, 0 where there is one", "", "kv-bias-square"),
    ("dq-no-star", "dq without k*'s part", "", "null-key-square"),
    ("dstar-all-dims", "the gradient of k* in dims that stay 0", "", "kv-bias-dims-square"),
    ("gate-no-slope", "the gate's gradient without the slope of its sigmoid", "", "gate-square"),
    ("gate-raw", "the gate multiplies without its sigmoid", "", "gate-square"),
    ("slopes-from-0", "alibi's slopes are 2^(-8h/H) from h = 0", "", "alibi-no-scores"),
    ("slopes-top-left", "alibi's distances ignore the offset", "", "alibi-tail"),
    ("slopes-by-key", "alibi's bias is slope j: softmax forgives it, a sink does not", "", "alibi-square"),
    ("slopes-sign", "alibi's bias has the wrong sign", "", "alibi-no-scores"),
    ("sigmoid-masked", "masked scores are 0 before the sigmoid: each weighs 1/2", "", "sigmoid-square"),
    ("sigmoid-minus-log", "log of the number of keys is taken from the sigmoid's scores", "", "sigmoid-square"),
    ("clamp-signed", "the sum's sign is kept: z / sum where |sum| > 1", "", "clamp-by-hand"),
    ("clamp-no-slope", "the clamped sum is a constant in the backward", "", "clamp-by-hand"),
    ("softpick-masked", "masked keys count |0 - 1| in softpick's sum", "", "softpick-square"),
    ("softpick-positive", "softpick's sum is over positive terms alone", "", "softpick-by-hand"),
    ("softpick-no-sign", "keys of negative score have no part in softpick's backward", "", "softpick-by-hand"),
]


def visible(c, wrong=""):
    """[B,1,T,S]: the mask, as README.md states it."""
    offset = 0 if wrong == "causal-top-left" else c.offset
    i, j = np.arange(c.queries)[:, None] + offset, np.arange(c.keys)
    w = c.window + {"window-long": 1, "window-short": -1}.get(wrong, 0)
    at = i - c.offset if wrong == "window-top-left" else i
    see = (j <= i if c.causal else j >= 0) & ((j > at - w) if c.window else True)
    tokens = 0 if wrong == "tokens-forgotten" else c.sink_tokens
    see = see | ((j < c.prefix) & ((j <= i) | (wrong != "prefix-causal"))) | ((j < tokens) & (j <= i))
    length = np.array(c.lengths if c.lengths and wrong != "lengths-ignored" else [c.keys] * c.batch)
    return see & (j < length[:, None, None, None])


def kernel(c, wrong=""):
    """Plain softmax attention and its relatives over a row [*, 0 .. S-1], each row at once, in the type of c.q."""
    x = {n: None if a is None else np.asarray(a, dtype=c.q.dtype) for n, a in c.inputs.items()}
    through, wrong = wrong.endswith("-through"), wrong.removesuffix("-through")
    B, H, K, T, S, D = c.batch, c.heads, c.kv_heads, c.queries, c.keys, c.dim
    scale, inf = (1 / np.sqrt(D) if wrong == "scale-default" else c.scale), np.inf
    head = np.arange(H) % K if wrong == "key-head-interleaved" else np.arange(H) // (H // K)
    q, k, v, do, sink = x["q"], x["k"][:, head], x["v"][:, head], x["do"], x["sink"]
    see = np.broadcast_to(visible(c, wrong), (B, H, T, S))
    # scores z [B,H,T,S], and the extra column's, z_* [B,H,T]
    z, cap, slope, far = np.einsum("bhtd,bhsd->bhts", q, k) * scale, c.soft_cap, 1, None
    if c.slopes:
        far = np.maximum(np.arange(T)[:, None] + c.offset * (wrong != "slopes-top-left") - np.arange(S), 0)
        far = -np.arange(S) if wrong == "slopes-by-key" else far
        slopes = 2.0 ** (-8 * np.arange(H) / H) if wrong == "slopes-from-0" else np.array(c.slopes)
        z = (z - (-1 if wrong == "slopes-sign" else 1) * slopes[:, None, None] * far).astype(q.dtype)
    if cap:
        e = np.exp(z / cap), np.exp(-z / cap)
        z = cap * ((e[0] - e[1]) / (e[0] + e[1]) if wrong == "cap-overflows" else np.tanh(z / cap))
        slope = 1 if wrong == "cap-no-slope" else 1 - (z / cap) ** 2
    star, vstar = np.full((B, H, T), -inf, dtype=q.dtype), x["vstar"]
    if c.operator == "zero":
        star = np.zeros_like(star)
    if x["kstar"] is not None:
        star = np.einsum("bhtd,hd->bht", q, x["kstar"]) * (1 if wrong == "star-unscaled" else scale)
        if wrong == "star-value":
            vstar = x["kstar"] if vstar is None else None
    if sink is not None:
        row = np.arange(B * H * T).reshape(B, H, T)
        order = {"heads-reversed": H - 1 - row // T % H, "sink-by-row": row % H,
                 "sink-by-key-head": row // T % H // (H // K) * (H // K)}.get(wrong, row // T % H)
        star = sink[order] * (scale if wrong == "sink-scaled" else np.log(2) if wrong == "sink-base-2" else 1)
        if wrong == "cap-on-sink" and cap:
            star = cap * np.tanh(star / cap)
    if wrong == "sink-on-key-0" and sink is not None:
        z[..., 0], star = z[..., 0] + star, np.full_like(star, -inf)
    dropped = {"sink-dropped": True, "sink-dropped-decode": T == 1, "sink-dropped-window": c.window > 0}
    if c.operator != "kv-bias" and dropped.get(wrong):
        star = np.full_like(star, -inf)
    z = np.where(see, z, -1e4 if wrong == "finite-mask" else 0 if wrong == "sigmoid-masked" else -inf)
    z = np.concatenate([star[..., None], z], -1).astype(q.dtype)
    a, deriv, dlogz, lse, keys = weights(c, z, wrong)
    # o, then backward: da_j = g <do, v_j>, dz_j = (s'_j/Z) da_j - dlogz_j delta
    v1 = np.concatenate([np.zeros((B, H, 1, D), q.dtype), v], 2)
    if vstar is not None:
        v1[:, :, 0] = vstar
    k1 = np.concatenate([np.zeros((B, H, 1, D), q.dtype), k], 2)
    if x["kstar"] is not None:
        k1[:, :, 0] = x["kstar"]
    g = np.ones((B, H, T, 1), q.dtype)
    if x["gate"] is not None:
        g = x["gate"][..., None] if wrong == "gate-raw" else 1 / (1 + np.exp(-x["gate"][..., None]))
    da = g * np.einsum("bhtd,bhsd->bhts", do, v1)
    delta = (a * da).sum(-1, keepdims=True)
    dgate = (delta * (1 / g if wrong in ("gate-no-slope", "gate-raw") else 1 - g))[..., 0]
    if x["dlse"] is not None and wrong != "dlse-ignored":
        delta = delta - x["dlse"][..., None]
    share = np.where(a[..., :1] < 1, 1 - a[..., :1], 1)                  # of the keys; without their o it is delta's
    moved = delta / share if wrong == "lse-detached" else delta
    dz = deriv * da - dlogz * moved
    dz[..., 0] = (deriv * da - dlogz * delta)[..., 0]
    if wrong == "backward-no-sink":
        dz[..., 1:] /= share
    dscore = dz * (1 if wrong == "scale-no-backward" else scale)
    if wrong == "star-unscaled" and through:
        dscore[..., 0] = dz[..., 0]
    dscore[..., 1:] *= slope
    dq1 = dscore * (np.arange(S + 1) > 0) if wrong == "dq-no-star" else dscore
    wide = np.where(share > 0, a / share, a) if wrong in ("dv-no-sink", "backward-no-sink") else a
    dk = np.einsum("bhts,bhtd->bhsd", dscore[..., 1:], q)
    dv = np.einsum("bhts,bhtd->bhsd", (g * wide)[..., 1:], do)
    dsink = dz[..., 0]                                                   # [B,H,T]
    if through:                                                          # as autograd has it
        dsink = dsink * {"sink-scaled": scale, "sink-base-2": np.log(2),
                         "cap-on-sink": 1 - (star / cap) ** 2 if cap else 1}.get(wrong, 1)
    over = {"dsink-last-query": dsink[..., -1].sum(0), "dsink-mean": dsink.mean(-1).sum(0), "dsink-zero": np.zeros(H),
            "dsink-one-batch": dsink[-1].sum(-1), "sink-dropped": np.zeros(H), "dsink-sign": -dsink.sum((0, 2))}
    per_head = lambda y, w: np.einsum("bht,bhtd->hd", y, w)
    dkstar = per_head(dscore[..., 0], q)
    if c.operator == "kv-bias-dims" and wrong != "dstar-all-dims":
        dkstar[:, (x["kstar"] != 0).any(0).nonzero()[0].max() + 1:] = 0
    dvstar = per_head((g * a[..., :1])[..., 0], do)
    groups = lambda y: np.stack([(y[:, head == h][:, -1] if wrong == "group-not-summed" else y[:, head == h].sum(1))
                                 for h in range(K)], 1)
    lse = keys if wrong == "lse-no-sink" else lse / np.log(2) if wrong == "lse-base-2" else lse
    return {"o": g * np.einsum("bhts,bhsd->bhtd", a, v1), "lse": lse, "lse_keys": keys,
            "dq": np.einsum("bhts,bhsd->bhtd", dq1, k1), "dk": groups(dk), "dv": groups(dv),
            "dsink": over.get(wrong, dsink.sum((0, 2))), "dkstar": dkstar, "dvstar": dvstar, "dgate": dgate}


def weights(c, z, wrong=""):
    """a = s/Z, s'/Z, dlog Z/dz of rows z [..,1+S], column 0 the sink's; lse with it and without it, or 0."""
    none, inf = np.zeros(z.shape[:-1], z.dtype), np.inf
    if c.operator == "sigmoid":
        if wrong == "sigmoid-minus-log":
            z = z - np.log(c.keys)
        s = np.where(z > -inf, 1 / (1 + np.exp(-np.maximum(z, -700))), 0)
        return s, s * (1 - s), 0 * s, none, none
    if c.operator == "clamp":
        s, ds = np.where(z > -inf, z, 0), (z > -inf).astype(z.dtype)
        total = s.sum(-1, keepdims=True)
        Z = np.maximum(np.abs(total), 1)
        over = (np.abs(total) > 1) & (wrong != "clamp-no-slope")
        if wrong == "clamp-signed":
            Z = np.where(over, total, 1)
        return s / Z, ds / Z, np.where(over, ds / np.where(total == 0, 1, total), 0), none, none
    if c.operator == "softpick":
        m = np.maximum(z.max(-1, keepdims=True), 0)
        du = np.exp(z - m)
        u = np.where(np.abs(z) < 1, np.exp(-m) * np.expm1(np.clip(z, -1, 1)), du - np.exp(-m))
        if wrong != "softpick-masked":
            u = np.where(z > -inf, u, 0)
        positive = u * (u > 0) if wrong == "softpick-positive" else np.abs(u)
        Z = positive.sum(-1, keepdims=True) + z.dtype.type(1e-8)
        sign = (u > 0) * 1.0 if wrong in ("softpick-no-sign", "softpick-positive") else np.sign(u)
        return np.maximum(u, 0) / Z, (u > 0) * du / Z, sign * du / Z, none, none
    keys = z[..., 1:].max(-1, keepdims=True, initial=-inf)
    m = keys if wrong in ("sink-not-in-max", "sink-unshifted") else z.max(-1, keepdims=True)
    if wrong == "finite-minus-inf":
        m = np.maximum(m, -5e4)
    if wrong != "nan-no-keys":
        m = np.where(m > -inf, m, 0 if wrong != "sink-not-in-max" else m)
    p = np.exp(z - m)
    if wrong == "sink-unshifted":
        p[..., 0] = np.exp(z[..., 0])
    if wrong == "weights-flushed":
        p[..., 1:] = np.where(z[..., 1:] - m < -20, 0, p[..., 1:])
    if wrong == "sink-twice":
        p[..., 0] *= 2
    Z = p.sum(-1, keepdims=True)
    lse = (m + np.log(Z))[..., 0]
    top = np.where(keys > -inf, keys, 0)
    alone = (top + np.log(np.exp(z[..., 1:] - top).sum(-1, keepdims=True)))[..., 0]
    if wrong not in ("nan-no-keys", "sink-not-in-max"):
        Z = np.where(Z > 0, Z, 1)
    a = p / Z
    if wrong == "sink-clamped":                                          # o = softmax(z) e^clip(lse_keys - lse, -20, 0)
        a = a * np.exp(np.clip(alone - lse, -20, 0) - (alone - lse))[..., None]
    return a, a, a, lse, alone


def same(c, name, got, theirs, kind):
    """Are these the numbers of a mistake? They round as a kernel's of their own size do, and NaN or infinity stands for
    either. Where a mistake has these, a kernel may have anything."""
    got, theirs = np.asarray(got, np.float64), np.asarray(theirs, np.float64)
    if got.shape != theirs.shape:
        return False
    lost, theirs_lost = ~np.isfinite(got), ~np.isfinite(theirs)
    if (lost & np.isfinite(c.want[name]) & ~theirs_lost).any():
        return False
    both = ~lost & ~theirs_lost
    size = np.abs(theirs[both]).max(initial=0)
    (rounds, scores), (unit, cond, tiny) = c.unit[name].astype(np.float64), c.types[kind]
    bound = 4 * (unit * rounds + cond * scores) + 16 * unit * size + tiny * c.reach[name]
    return bool((np.abs(got - theirs)[both] <= bound[both]).all())


def likely(c, got, wrong, found, kind, compare):
    """What the numbers of a failed case look like: the texts of the mistakes that give them all, or where they are off."""
    if any(got[n].shape != c.want[n].shape for n in got):
        return ["another layout: o and dq are [B,H,T,D], dk and dv [B,K,S,D], lse [B,H,T], dsink [H] (README.md)"]
    was, texts, tried = c.q, [], set()

    def lost(numbers):
        return {n for n in got if (~np.isfinite(np.asarray(numbers[n], np.float64)) & np.isfinite(c.want[n])).any()}
    with np.errstate(all="ignore"):
        for name, text, *_ in MISTAKES + (MISTAKES if kind != "float64" else []):
            c.q = c.inputs["q"].astype(np.float32 if name in tried else np.float64)     # float32 overflows elsewhere
            tried.add(name)
            theirs = kernel(c, name)
            differs = any(not error <= bound for error, bound, _ in (compare(c, n, theirs[n], kind) for n in wrong))
            if differs and text not in texts and lost(theirs) <= lost(got) and all(same(c, n, got[n], theirs[n], kind) for n in got):
                texts.append(text)
    c.q = was
    if texts:
        return texts[:3]
    for coarse in [t for t in ("float32", "float16", "bfloat16") if t in c.types and c.types[t][0] > c.types[kind][0]]:
        if all(error <= bound for error, bound, _ in (compare(c, n, got[n], coarse) for n in wrong)):
            return [f"right to {coarse}, not to {kind}: something is rounded to {coarse}"]
    if lost(got):
        return ["NaN or infinity"]
    return [f"{', '.join(wrong)} wrong, the rest right" if len(wrong) < len(got) else "no mistake of the list"]
