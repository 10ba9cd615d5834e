#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes paper.txt and golden.txt, the numbers of the PyTorch twin that sink.c is compared with:
of the paper's rows (test_sink.c), and of later papers' and published models' too (test_rows.c).

    python3 golden.py                       write the two beside this file
    python3 golden.py --check               exit status 1 when one of them would differ

The twin (twin.py) computes in double, with derivatives from autograd. The file holds results only:
parameters, tokens and directions follow from a configuration's number by the integers below, so
that a reader in any language makes them again, to the bit.

    stream(k, name)    SplitMix64 whose state is one SplitMix64 step of FNV-1a(name) with the offset
                       basis xor k: hash64 of sink.c, chapter 15
    uniform            (next >> 11) * 2^-53, and u = 2 uniform - 1 below
    parameters         stream(k, tensor's name), row-major: gains (norm1 .. norm4, normf) 1 + u / 2,
                       matrices (w.., phi., not wte and wpe) u * (2 / sqrt(rows)), all else u;
                       a dim of k* that is not learned: 0, its u drawn all the same
    tokens             stream(k, "ids"), B lines of T + 1: floor(uniform * vocabulary)
    directions         stream(k, "way." + tensor's name), row-major: u

A line each, numbers with 12 digits. Another machine's rounding noise may move the last digit of a
few; --check says how many, and fails when more than that differs:

    config K B T DECAY flags                DECAY: all or matrices, of the two steps below; muon:
                                            five of Muon's, lr and decay as there, matrices decayed
    loss                                    mean cross-entropy
    logits b t : V numbers                  t from 0
    attn l h b i : S numbers                scale * s / Z of the real row i, from 0
    metric l h b i : S numbers              m of the same row
    norm                                    of all gradients together
    grad NAME norm projection moved         the gradient's norm, its product with the direction; and
                                            the product of (after - before) / lr with it, after the
                                            steps, two of AdamW: lr 0.01, betas 0.9 and 0.95, eps
                                            1e-3, decay 0.1, gradients clipped to norm 1
    after                                   the loss after those steps
    end CONFIGS LINES SUM                   LINES before this one; SUM: hash64 of their bytes, seed
                                            0, in 16 hexadecimal digits

The configurations of a file are a covering array: every row of every axis, and every pair of rows
of two axes but those that config_resolve refuses.
"""
import math
import os
import sys

from needs import needs

needs("numpy", "torch")

import numpy as np
import torch

import twin

MASK, GAMMA = (1 << 64) - 1, 0x9E3779B97F4A7C15
LR, BETAS, EPS, DECAY = 0.01, (0.9, 0.95), 1e-3, 0.1
SIZES = "--layers 2 --heads 2 --dim 12 --ffn 7 --vocab 11"

# A row is the flags that choose it. "" is the default.
AXES = {
    "pos": ["", "--pos none", "--pos absolute", "--pos learned", "--pos relative", "--pos t5",
            "--pos alibi"],
    "rotary-dims": ["", "--rotary-dims 2"],
    "rope-base": ["", "--rope-base 100"],
    "rope-pairing": ["", "--rope-pairing interleaved"],
    "rope-scaling": ["", "--rope-scaling linear --rope-factor 3",
                     "--rope-scaling llama3 --rope-base 100 --rope-original 64 --rope-factor 4"],
    "norm": ["", "--norm layer", "--norm dyt"],
    "place": ["", "--place post", "--place parallel", "--place sandwich"],
    "act": ["", "--act geglu", "--act reglu", "--act swish", "--act gelu", "--act relu",
            "--act gelutanh"],
    "linear-bias": ["", "--linear-bias"],
    "tied": ["", "--tied"],
    "embed-dim": ["", "--embed-dim 5"],
    "combine": ["", "--combine add"],
    "kernel": ["", "--kernel elu", "--kernel mlp"],
    "sim": ["", "--sim sigmoid", "--sim elu", "--sim identity", "--sim softpick",
            "--sim rectified", "--sim relu"],
    "normalizer": ["", "--normalizer one", "--normalizer count", "--normalizer clamp",
                   "--normalizer pnorm --pnorm 0.7", "--normalizer pnorm --pnorm 2",
                   "--normalizer pnorm --pnorm 3"],
    "scale": ["", "--scale 0.7"],
    "extra": ["", "--extra k", "--extra kv", "--extra zero", "--extra logit",
              "--extra logit --extra-logit 0.5", "--extra logn"],
    "extra-shared": ["", "--extra-shared"],
    "extra-dims": ["", "--extra-dims 2"],
    "extra-order": ["", "--extra-order last", "--extra-order lowfreq"],
    "extra-value": ["", "--extra-value e1 --extra-norm 2", "--extra-value ones --extra-norm 3"],
    "vbias": ["", "--vbias"],
    "sink-token": ["", "--sink-token", "--sink-token 3"],
    "window": ["", "--window 3"],
    "window-period": ["", "--window-period 2 --window-offset 1"],
    "prefix": ["", "--prefix 1", "--prefix 3"],
    "kv-heads": ["", "--kv-heads 1", "--kv-heads 2"],
    "heads": ["", "--heads 4 --head-dim 4"],
    "head-dim": ["", "--head-dim 4"],
    "soft-cap": ["", "--soft-cap 0.8"],
    "score-scale": ["", "--score-scale logn"],
    "score-bias": ["", "--score-bias logn", "--score-bias learned"],
    "clip": ["", "--clip-low -0.03 --clip-high 1.02"],
    "gate": ["", "--gate head", "--gate element", "--gate value", "--gate static"],
    "qk-norm": ["", "--qk-norm"],
    "head-norm": ["", "--head-norm"],
    "v-scale": ["", "--v-scale"],
    # XSA leaves of a row that sees itself alone its rounding, which a norm would make large: v+ too
    "xsa": ["", "--xsa --vbias"],
}
# What the paper lacks, and sink.c alone.
LATER = ("rope-scaling", "dyt", "parallel", "sandwich", "embed-dim", "softpick", "rectified",
         "sim relu", "count", "extra-logit", "logn", "window-period", "soft-cap", "score-bias",
         "clip", "gate", "qk-norm", "head-norm", "v-scale", "xsa")
SEE_NOTHING = ("--sim softpick", "--sim rectified", "--sim relu")
RULED = ("kernel", "sim", "normalizer", "extra", "extra-value", "score-bias", "clip")


def mixed(x):
    """The output of SplitMix64 in this state."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def hash64(seed, data):
    h = 0xCBF29CE484222325 ^ seed
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & MASK
    return mixed(h + GAMMA & MASK)


class Stream:
    def __init__(self, seed, name):
        self.state = hash64(seed, name.encode())

    def next(self):
        self.state = self.state + GAMMA & MASK
        return mixed(self.state)

    def uniform(self):
        return (self.next() >> 11) * 2.0 ** -53

    def below(self, n):
        return int(self.uniform() * n)

    def signs(self, shape):
        """u in [-1, 1) of this shape."""
        u = [2 * self.uniform() - 1 for _ in range(math.prod(shape))]
        return torch.tensor(u, dtype=torch.float64).view(shape)


# ---- the covering array --------------------------------------------------------------------------

def refused(row):
    """The rules of `sink help`: a sum or a root of scores of either sign, v* without its k*, rows
    that are their own normaliser, a clip without one."""
    signed, own = "identity" in row["sim"], row["sim"] in ("--sim softpick", "--sim rectified")
    elu, p, whole = "elu" in row["kernel"], "pnorm" in row["normalizer"], row["normalizer"] == ""
    if own and (elu or not whole) or row["sim"] == "" and "count" in row["normalizer"]:
        return True
    if row["clip"] and not whole:
        return True
    if signed and row["score-bias"] and (whole or "0.7" in row["normalizer"]):
        return True
    if signed and whole and not elu:
        return True
    raw = row["extra"] not in ("", "--extra zero", "--extra logn")
    if signed and elu and raw and (p or whole):
        return True
    if signed and not elu and "0.7" in row["normalizer"]:
        return True
    return row["extra-value"] != "" and row["extra"] != "--extra k"


def completion(row, fixed, rng):
    """Axes with rules drawn until they agree, the others at will; None when 300 draws do not."""
    for _ in range(300):
        for axis in RULED:
            if axis not in fixed:
                row[axis] = AXES[axis][rng.below(len(AXES[axis]))]
        if not refused(row):
            return row
    return None


def covering():
    """Configurations, each {axis: row}, that cover every pair that is not refused; greedily."""
    rng, names, chosen = Stream(0, "covering"), list(AXES), []
    missing = {(a, x, b, y) for i, a in enumerate(names) for b in names[i + 1:]
               for x in AXES[a] for y in AXES[b]}
    gain = lambda row, axis, value, known: sum(
        ((axis, value, o, row[o]) in missing) + ((o, row[o], axis, value) in missing)
        for o in known)
    for pair in sorted(missing, key=lambda m: (names.index(m[0]), names.index(m[2]), m)):
        if pair not in missing:
            continue
        a, x, b, y = pair
        best, most = None, -1
        for _ in range(60):
            row = completion({**{axis: "" for axis in names}, a: x, b: y}, (a, b), rng)
            if row is None:
                break
            known = sorted({*RULED, a, b})
            rest = [axis for axis in names if axis not in known]
            first = rng.below(len(rest))
            for axis in rest[first:] + rest[:first]:
                row[axis] = max(AXES[axis], key=lambda value: gain(row, axis, value, known))
                known.append(axis)
            met = sum((m[0], row[m[0]], m[2], row[m[2]]) in missing
                      for m in ((p, 0, q) for i, p in enumerate(names) for q in names[i + 1:]))
            if met > most:
                best, most = row, met
        if best:
            chosen.append(best)
            missing -= {(p, best[p], q, best[q]) for i, p in enumerate(names)
                        for q in names[i + 1:]}
    return chosen, missing


# ---- one configuration ---------------------------------------------------------------------------

def leaf(name):
    return name.split(".", 1)[-1] if name[0] == "l" and name[1].isdigit() else name


def is_matrix(name, shape):
    """Decayed under --decay matrices: not gains, biases, k*, v*, v+, numbers per head, x*, rel."""
    return len(shape) == 2 and leaf(name) not in ("kstar", "vstar", "vplus", "rel", "xstar")


def parameters(c, k):
    p = {}
    for name, shape in twin.table(c).items():
        x, what = Stream(k, name).signs(shape), leaf(name)
        if what[:4] == "norm" and len(what) == 5:
            x = 1 + x / 2
        elif len(shape) == 2 and what[0] in "wp" and what not in ("wte", "wpe"):
            x = x * (2 / math.sqrt(shape[0]))
        elif what == "kstar":
            x = x * twin.live_dims(c)
        p[name] = x.requires_grad_()
    return p


def line(*words):
    return " ".join(f"{w:.12g}" if isinstance(w, float) else str(w) for w in words)


def train(c, p, ids, decay):
    """Two steps of AdamW, or five of Muon, on one batch."""
    own = twin.muon_names(p) if decay == "muon" else []
    groups = [{"params": [x for n, x in p.items() if n not in own and is_matrix(n, x.shape) == w],
               "weight_decay": DECAY if w or decay == "all" else 0.0} for w in (True, False)]
    adamw = torch.optim.AdamW(groups, lr=LR, betas=BETAS, eps=EPS)
    buffer = {name: torch.zeros_like(p[name]) for name in own}
    for _ in range(5 if own else 2):
        _, step = twin.run(c, p, ids)
        for name, x in p.items():
            x.grad = torch.from_numpy(step[name].copy())
        torch.nn.utils.clip_grad_norm_(list(p.values()), 1.0)
        for name in own:
            twin.muon(p[name].data, p[name].grad, buffer[name], LR, DECAY)
            p[name].grad = None
        adamw.step()


def results(k, row, muon):
    flags = " ".join([SIZES] + [value for value in row.values() if value])
    # long ones reach T5's wide buckets, and more than one strip of queries
    B, T = 2, 70 if k % 16 == 3 else 25 if "relative" in flags or "t5" in flags else 9
    flags += f" --context {T}"
    decay = "muon" if muon and k % 6 == 2 else "matrices" if k % 2 else "all"
    c, _ = twin.resolve(twin.parse(flags))
    p = parameters(c, k)
    draw = Stream(k, "ids")
    ids = torch.tensor([[draw.below(c.vocab) for _ in range(T + 1)] for _ in range(B)])
    out, grads = twin.run(c, p, ids)
    total = math.sqrt(sum(float((g * g).sum()) for g in grads.values()))

    lines = [line("config", k, B, T, decay, flags), line("loss", float(out["loss"]))]
    for b, t in ((0, T // 2), (1, T - 1)):
        lines.append(line("logits", b, t, ":", *map(float, out["logits"][b, t])))
    for l, h, b, i in ((0, k % c.heads, 0, T - 1), (1, (k + 1) % c.heads, 1, T // 2)):
        for name in ("attn", "metric"):
            lines.append(line(name, l, h, b, i, ":", *map(float, out[name][l, b, h, i])))
    lines.append(line("norm", total))

    before = {name: x.detach().clone() for name, x in p.items()}
    train(c, p, ids, decay)
    for name, x in p.items():
        way = Stream(k, "way." + name).signs(x.shape)
        g = torch.from_numpy(grads[name])
        size, along = float(g.norm()), float((g * way).sum())
        if size < 1e-13 * total:             # 0 but for rounding, as a bias of keys under softmax
            size = along = 0.0
        lines.append(line("grad", name, size, along,
                          float(((x.detach() - before[name]) * way).sum() / LR)))
    lines.append(line("after", float(twin.forward(c, p, ids)["loss"].detach())))
    return lines


def compare(new, old, name, bound):
    """0 when the texts agree, up to the last digits of their numbers and so the sum."""
    if new == old:
        print(f"{name} is, byte for byte, what is made now")
        return 0
    new, old, moved = new.split()[:-1], old.split()[:-1], 0
    if len(new) != len(old):
        print(f"{name} has {len(old)} words, {len(new)} are made now")
        return 1
    for a, b in zip(new, old):
        if a != b:
            moved += 1
            try:
                near = abs(float(a) - float(b)) <= bound * max(abs(float(b)), 1e-3)   # small: sums of larger ones
            except ValueError:
                near = False
            if not near:
                print(f"{name} has {b}, {a} is made now")
                return 1
    print(f"{moved} numbers of {name} differ in their last digits")
    return 0


def asked():
    """A mistyped --check must not write the file anew."""
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"{os.path.basename(sys.argv[0])}: expected --check, or nothing to write anew. Try: --check")


def finish(lines, cases, what, name, bound):
    """Writes the lines and one that counts them as NAME beside this file; with --check, compares
    instead. Returns the exit status."""
    text = "".join(x + "\n" for x in lines)
    text += f"end {cases} {len(lines)} {hash64(0, text.encode()):016x}\n"
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    print(f"{cases} {what}, {len(text)} bytes")
    if "--check" in sys.argv[1:]:
        with open(path, encoding="ascii") as file:
            return compare(text, file.read(), name, bound)
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write(text)
    return 0


def written(name, muon):
    """One file of the rows that AXES has."""
    chosen, missing = covering()
    chosen.sort(key=lambda row: row["sim"] in SEE_NOTHING)         # heads that may be dead are last
    lines = [x for k, row in enumerate(chosen) for x in results(k, row, muon)]
    return finish(lines, len(chosen), f"configurations, {len(missing)} pairs refused", name, 2e-11)


def main():
    asked()
    torch.set_num_threads(1)
    status = written("golden.txt", True)
    for axis, rows in AXES.items():
        AXES[axis] = [row for row in rows if not any(word in row for word in LATER)]
    return written("paper.txt", False) or status


if __name__ == "__main__":
    sys.exit(main())
