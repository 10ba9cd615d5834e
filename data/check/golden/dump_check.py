#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random configurations through `sink dump`, each beside the PyTorch twin.

    python3 data/check/golden/dump_check.py --count 200 --seed 1 [--double]      where sink.c stands

Each is a random row of every axis, every other time of those that ./sink has. Built in out/, ./hf
makes a model of ids, every parameter is moved, and `dump --all` writes a forward and backward, by
./sink or, of other papers' rows, by ./hf, by tiles or --plain; twin.py says how far an array may be. What golden.py says is refused must be, with status
2, and nothing else. Exit status 1 when something is wrong, or when nothing was compared; the flags
of what is wrong are printed. At the end, by array: the worst difference relative to its largest
number (where that is above what is allowed), and to what is allowed.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from needs import needs

needs("numpy", "torch")

import numpy as np
import torch

import golden
import twin

MORE = {"window": ["--window 1", "--window 5"], "clip": ["--clip-low -0.2", "--clip-high 1.3"],
        "sink-token": ["--sink-token 2"], "soft-cap": ["--soft-cap 3"], "scale": ["--scale 1.6"],
        "extra": ["--extra logit --extra-logit -1.5"], "head-dim": ["--head-dim 3"],
        "xsa": ["--xsa"], "act": ["--act geglutanh"]}
AXES = {axis: rows + MORE.get(axis, []) for axis, rows in golden.AXES.items()}


def later(flags):
    """Does ./sink lack one of these rows?"""
    return any(word in flags for word in golden.LATER)


def draw(rng, all_rows):
    """A row of every axis, without flags that belong to rows that are not chosen."""
    row = {axis: rows[rng.integers(len(rows)) * rng.integers(2)] for axis, rows in AXES.items()}
    if not all_rows:
        row = {axis: "" if later(flags) else flags for axis, flags in row.items()}
    for axis in row:
        if (row["pos"] and axis[:3] in ("rot", "rop")
                or axis == "window-period" and not row["window"]
                or axis in ("extra-shared", "extra-dims") and " k" not in row["extra"]
                or axis == "extra-order" and not row["extra-dims"]):
            row[axis] = ""
    if "3" in row["head-dim"] and not row["pos"]:          # a pair of its dims turns
        row["rotary-dims"] = "--rotary-dims 2"
    return row


def stir(path, rng):
    """Moves the parameters of a checkpoint. A 0 may be a fixed dim of k*: it stays, then."""
    with open(path, "rb") as file:
        old = file.read()
    width, at = int.from_bytes(old[12:16], "little"), 76 + int.from_bytes(old[16:24], "little")
    x = np.frombuffer(old, f"<f{width}", int.from_bytes(old[at - 8:at], "little"), at)
    x = x + 0.3 * rng.standard_normal(x.size) * ((x != 0) | (b"\nextra k" not in old[:at]))
    new = old[:at - 12] + bytes(4) + old[at - 8:at] + x.astype(f"<f{width}").tobytes()
    with open(path, "wb") as file:                         # the 4 bytes: no moments follow
        file.write(new + golden.hash64(0, new).to_bytes(8, "little"))


def built(name, file, double):
    """A program in out/."""
    words = [os.environ.get("CC", "cc"), "-O1", *["-DSINK_DOUBLE"] * double, file, "-o", "out/" + name, "-lm"]
    if subprocess.run(words, check=False).returncode:
        sys.exit(f"dump_check.py: {' '.join(words)} failed. Try: the folder that holds sink.c")
    return os.path.abspath("out/" + name)


def one(programs, number, rng, worst):
    """A configuration: is it one to refuse, and is something wrong."""
    row, words = draw(rng, number % 2), "--threads 1 --quiet --force --out"
    dumps = "hf" if later(" ".join(row.values())) else "sink"
    T = int(rng.choice([3 if "3" in row["prefix"] else 1, 5, 9, 13, 70], p=[.1, .3, .3, .2, .1]))
    flags = " ".join([golden.SIZES, *filter(None, row.values()), f"--context {max(3, T + T % 4)}"])
    plain, refused, wrong = " --plain" * int(rng.integers(2)), golden.refused(row), []
    with tempfile.TemporaryDirectory() as folder:
        rng.integers(0, 10, 400).astype("<u2").tofile(folder + "/t.bin")
        np.savetxt(folder + "/ids.txt", rng.integers(0, 11, (2, T + 1)), "%d")
        for program, call in (
                ("hf", f"train {flags} --tokens t.bin --end-token 10 --steps 0 {words} m.sink"),
                (dumps, f"dump m.sink --ids ids.txt --all{plain} {words} d")):
            done = subprocess.run([programs[program], *call.split()], cwd=folder, timeout=99,
                                  text=True, capture_output=True, check=False)
            if done.returncode or refused:
                wrong = [] if refused and done.returncode == 2 else [done.stderr or "not refused"]
                break
            stir(folder + "/m.sink", rng)
        found = [] if done.returncode or refused else twin.differences(folder + "/d", flags)
    if isinstance(found, str):
        found, wrong = [], [found]
    for name, far, may, size in found:
        had = worst.setdefault(re.sub(r"l\d\.", "", name), [0, 0.0, 0.0])
        had[:] = had[0] + 1, max(had[1], far / size if size > may else 0), max(had[2], far / may)
        if not far <= may:
            wrong.append(f"{name}: {far:.2e} apart, {may:.2e} allowed, largest {size:.2e}")
    for line in wrong:
        print(f"{number}: {line.strip()}\n    {flags}{plain}", flush=True)
    return refused, bool(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--double", action="store_true")
    args, worst = parser.parse_args(), {}
    torch.set_num_threads(1)
    os.makedirs("out", exist_ok=True)
    programs = {"sink": built("dump_check_sink", "sink.c", args.double),
                "hf": built("dump_check_hf", "data/models/hf.c", args.double)}
    done = [one(programs, k, np.random.default_rng([args.seed, k]), worst)
            for k in range(args.count)]
    for name, (n, far, part) in sorted(worst.items()):
        print(f"{name:<16} {n:4d} times   worst {far:8.1e}   of what is allowed {part:5.2f}")
    refused, bad = map(sum, zip(*done))
    compared = len(done) - refused - bad
    print(f"{len(done)} configurations, {refused} refused, {bad} wrong, {compared} compared")
    return 1 if bad or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
