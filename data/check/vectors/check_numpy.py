#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel of attention with a sink, held to the vectors:  check_numpy.py [--kernel FILE] [CASE ..]

FILE defines kernel(c): of the case c (README.md) it returns a dict of any of o, lse, dq, dk, dv, dsink, dkstar, dvstar,
dgate, and raises NotImplementedError for what it does not do. Without FILE the kernel below is tried. CASE: the beginning
of a case's name, "logit" say. --type float64|float32|float16 is what q, k, v, do come in; --cases FOLDER, where they are."""
import argparse, functools, importlib.util, json, os, sys, traceback, types
try:
    import numpy as np
except ImportError:
    sys.exit("check_numpy.py: expected NumPy, found none. Try: pip install numpy")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mistakes import likely, visible

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = "o lse lse_keys dq dk dv dsink dkstar dvstar dgate".split()


read = functools.cache(lambda path: np.load(path) if os.path.exists(path) else None)


def kernel(c):
    """The example: softmax with a learned logit per head in the sum, forward alone, as its author would write it."""
    if c.operator != "logit":
        raise NotImplementedError
    z = np.where(c.mask, c.q @ c.k.swapaxes(-1, -2) * c.scale, -np.inf)
    m = np.maximum(z.max(-1), c.sink[:, None])                          # the sink is one of the scores
    p = np.exp(z - m[..., None])
    s = p.sum(-1) + np.exp(c.sink[:, None] - m)
    return {"o": p / s[..., None] @ c.v, "lse": m + np.log(s)}


def load(folder, kind):
    """The case of a folder: what case.json says, its inputs in `kind`, and c.want, c.unit: exact answers and bounds."""
    with open(os.path.join(folder, "case.json")) as f:
        c = types.SimpleNamespace(**json.load(f), want={}, unit={}, inputs={})
    for name in "q k v do dlse sink kstar vstar gate".split():
        c.inputs[name] = read(f"{folder}/{name}.npy")
        setattr(c, name, None if c.inputs[name] is None else c.inputs[name].astype(kind))
    c.mask = visible(c)                                                 # [B,1,T,S]
    for name in c.reach:
        c.want[name], c.unit[name] = (read(f"{folder}/{name}{end}.npy") for end in ("", ".unit"))
    if any(x is None for x in (c.q, c.k, c.v, c.do, *c.want.values(), *c.unit.values())):
        raise ValueError("an .npy file is missing")
    return c


def answers(got, c):
    """What a kernel returned that the case has, in float64. Beside a gradient, one that is missing counts as 0."""
    if not isinstance(got, dict):
        raise TypeError(f"expected a dict as {{'o': .., 'dq': ..}}, found {type(got).__name__}")
    for name in got:
        if name not in ANSWERS:
            raise ValueError(f"expected names among {' '.join(ANSWERS)}, found {name}")
    known = {n: np.asarray(x, dtype=np.float64) for n, x in got.items() if n in c.want and x is not None}
    if any(n.startswith("d") for n in known):
        known.update({n: np.zeros_like(x) for n, x in c.want.items() if n.startswith("d") and n not in known})
    return known


def compare(c, name, got, kind):
    """(error, tolerance, where) of the number that is furthest beyond, in tolerances. NaN is, wherever no NaN should be."""
    want = c.want[name]
    if got.shape != want.shape:
        return np.inf, 0.0, f"a shape of {got.shape} where {want.shape} is expected"
    (rounds, scores), (unit, cond, tiny) = c.unit[name].astype(np.float64), c.types[kind]
    bound = unit * rounds + cond * scores + tiny * c.reach[name]
    with np.errstate(invalid="ignore"):
        error = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.abs(got - want))
    error = np.where(np.isnan(error), np.inf, error)
    at = np.unravel_index(np.argmax(error / bound), error.shape)
    return error[at], bound[at], f"{got[at]:.6g} where {want[at]:.6g} is expected, at [{', '.join(map(str, at))}]"


def run(kernel, folder, kind, words=(), out=print, tell=True):
    """A line a case, and with `tell` what a failure looks like. How many pass, fail, are skipped, and the names that fail."""
    passed, failed, skipped, guesses, bad = 0, 0, 0, {}, []
    if not os.path.isdir(folder):
        sys.exit(f"{folder}: expected a folder of cases, found none. Try: make vectors")
    names = [n for n in sorted(os.listdir(folder)) if n.startswith(tuple(words) or "") and os.path.isdir(os.path.join(folder, n))]
    if not names:
        sys.exit(f"{folder}: expected cases{' that begin with ' * bool(words)}{' or '.join(words)}, found none. Try: make vectors")
    for name in names:
        try:
            c = load(os.path.join(folder, name), kind if kind != "bfloat16" else "float32")
        except (OSError, ValueError, EOFError) as error:
            sys.exit(f"{os.path.join(folder, name)}: expected a whole case, found: {error}. Try: make vectors")
        try:
            got = answers(kernel(c), c) if kind in c.types else {}
        except NotImplementedError:
            got = {}
        except Exception as error:                                      # the kernel's, not ours
            at = traceback.extract_tb(error.__traceback__)[-1]
            said = (str(error).splitlines() or [""])[0]
            out(f"{name:28} FAIL  {type(error).__name__}: {said} ({os.path.basename(at.filename)}, line {at.lineno})")
            failed, bad = failed + 1, bad + [name]
            continue
        if not got:
            skipped += 1
            continue
        found = {n: compare(c, n, x, kind) for n, x in got.items()}
        wrong = [n for n, (error, bound, _) in found.items() if not error <= bound]
        columns = "  ".join(f"{n} {e:.1e}/{b:.0e}" for n, (e, b, _) in found.items())
        out(f"{name:28} {'FAIL' if wrong else 'ok':5} {columns}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        bad += [name] * bool(wrong)
        if wrong and tell:
            for text in likely(c, got, wrong, found, kind, compare):
                guesses.setdefault(text, []).append(name)
                out(f"{'':34} looks like: {text}")
            out("\n".join(f"{'':34} {n}: {found[n][2]}" for n in wrong))
    for text, names in sorted(guesses.items(), key=lambda g: -len(g[1]))[:3]:
        out(f"{len(names)} of {failed} failures look like: {text}")
    out(f"{passed} passed, {failed} failed, {skipped} skipped")
    return passed, failed, skipped, bad


def main(kernel, kinds, function="kernel", device=None):
    """What was asked for, and the function under test: `function` of --kernel FILE."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--kernel"), p.add_argument("--type", choices=kinds, default=kinds[0]), p.add_argument("words", nargs="*")
    p.add_argument("--cases", default=os.path.join(HERE, "../../../out/vectors"))
    if device:
        p.add_argument("--device", default=device)
    a = p.parse_args()
    if a.kernel:
        if not (a.kernel.endswith(".py") and os.path.isfile(a.kernel)):
            sys.exit(f"{a.kernel}: expected a Python file, found none. Try: --kernel mine.py, where it defines {function}")
        spec = importlib.util.spec_from_file_location("under_test", a.kernel)
        module = sys.modules["under_test"] = importlib.util.module_from_spec(spec)
        sys.path.append(os.path.dirname(os.path.abspath(a.kernel)))     # what stands beside it
        spec.loader.exec_module(module)
        if not hasattr(module, function):
            sys.exit(f"{a.kernel}: expected a function {function}, found none. Try: data/check/vectors/README.md")
        kernel = getattr(module, function)
    return a, kernel


if __name__ == "__main__":
    a, kernel = main(kernel, ["float64", "float32", "float16"])
    passed, failed, *_ = run(kernel, a.cases, a.type, a.words)
    sys.exit(failed > 0 or not passed)
