#!/usr/bin/env python3
"""Training steps of sink and of its peers, in turns:  python3 data/check/peers.py [--quick] > peers.md

The same decoder (RMSNorm, rotary, SwiGLU; AdamW, clip 1, float32) in PyTorch eager and compiled, JAX, tinygrad and MLX,
as far as this Python has them; llm.c at GPT-2 124M, of which LLM_C names the folder (git clone karpathy/llm.c); and a model
of microgpt's size, one sample a step. Every figure is of a program of its own on one core, and on two: the median of
its steps, and of --rounds programs of each kind (3; --quick: 1). Needs ./bench (make bench). Random ids throughout."""
import json, os, re, signal, statistics, struct, subprocess, sys, tempfile, time

SIZES = {"demo": dict(d=64, L=4, H=2, f=128, V=2048, T=128, B=8), "dim 256": dict(d=256, L=6, H=4, f=512, V=2048, T=256, B=8),
         "microgpt": dict(d=16, L=1, H=4, f=64, V=27, T=16, B=1)}
GPT2 = "--dim 768 --layers 12 --heads 12 --ffn 3072 --vocab 50257 --pos learned --norm layer --act gelutanh --linear-bias --tied --batch 4 --context 64"
PEERS = ["sink", "PyTorch eager", "PyTorch compile", "JAX", "tinygrad", "MLX", "llm.c"]
QUICK = "--quick" in sys.argv
PATIENCE = 2 if QUICK else 6            # seconds of steps in one program
LIMIT = 50 if QUICK else 240            # of one program, its compilation included; of llm.c three times as long


def timed(step):
    """Milliseconds: after the first steps, which compile, the median of what PATIENCE allows, at least three."""
    for _ in range(3):
        step()
    took, begin = [], time.perf_counter()
    while len(took) < 400 and (len(took) < 3 or time.perf_counter() - begin < PATIENCE):
        t = time.perf_counter()
        step()
        took.append(time.perf_counter() - t)
    return 1e3 * statistics.median(took)


def shapes(o):
    d, f = o["d"], o["f"]
    p = {"e": (o["V"], d), "c": (d, o["V"]), "n": (d,)}
    for l in range(o["L"]):
        p.update({f"{l}n1": (d,), f"{l}n2": (d,), f"{l}qkv": (d, 3 * d), f"{l}o": (d, d), f"{l}w1": (d, f), f"{l}w3": (f, d)})
        if o["V"] > 27:
            p[f"{l}w2"] = (d, f)        # microgpt's feed-forward has no gate
    return p


def start(o, numpy):
    rng = numpy.random.default_rng(0)
    return {n: numpy.ones(s, "float32") if len(s) == 1 else rng.normal(0, 0.02, s).astype("float32") for n, s in shapes(o).items()}


def tables(o, numpy):
    D = o["d"] // o["H"]
    angle = numpy.arange(o["T"])[:, None] / 10000 ** (numpy.arange(0, D, 2) / D)
    mask = numpy.where(numpy.tril(numpy.ones((o["T"], o["T"]))) > 0, 0, -1e30)
    return [a.astype("float32") for a in (numpy.cos(angle), numpy.sin(angle), mask)]


def decoder(p, x, o, cos, sin, mask, cat, softmax, act):
    """Logits; of arrays with PyTorch's or NumPy's methods."""
    B, T, d, H = o["B"], o["T"], o["d"], o["H"]
    D = d // H
    norm = lambda h, g: h * ((h * h).mean(-1)[..., None] + 1e-5) ** -0.5 * g

    def rotate(a):
        a1, a2 = a[..., :D // 2], a[..., D // 2:]
        return cat([a1 * cos - a2 * sin, a1 * sin + a2 * cos], -1)

    def heads(a):
        return a.reshape(B, T, H, D).swapaxes(1, 2) if hasattr(a, "swapaxes") else a.reshape(B, T, H, D).transpose(1, 2)
    h = p["e"][x]
    for l in range(o["L"]):
        n = norm(h, p[f"{l}n1"]) @ p[f"{l}qkv"]
        q, k, v = rotate(heads(n[..., :d])), rotate(heads(n[..., d:2 * d])), heads(n[..., 2 * d:])
        kt = k.swapaxes(2, 3) if hasattr(k, "swapaxes") else k.transpose(2, 3)
        a = softmax(q @ kt * D ** -0.5 + mask) @ v
        a = (a.swapaxes(1, 2) if hasattr(a, "swapaxes") else a.transpose(1, 2)).reshape(B, T, d)
        h = h + a @ p[f"{l}o"]
        n = norm(h, p[f"{l}n2"])
        u = act(n @ p[f"{l}w1"])
        if f"{l}w2" in p:
            u = u * (n @ p[f"{l}w2"])
        h = h + u @ p[f"{l}w3"]
    return norm(h, p["n"]) @ p["c"]


def adamw(p, g, m, v, t, root, least):
    """The dictionaries after a step; clip 1, then decay and AdamW."""
    size = root(sum((x * x).sum() for x in g.values()))
    g = {n: x * least(1 / (size + 1e-6)) for n, x in g.items()}
    m = {n: 0.9 * m[n] + 0.1 * g[n] for n in p}
    v = {n: 0.95 * v[n] + 0.05 * g[n] * g[n] for n in p}
    a, b = 1 / (1 - 0.9 ** t), 1 / (1 - 0.95 ** t)
    return {n: p[n] * (1 - 4e-5) - 4e-4 * (m[n] * a) / (root(v[n] * b) + 1e-8) for n in p}, m, v


def run_torch(o, compiled):
    import numpy, torch
    import torch.nn.functional as F
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    p = {n: torch.nn.Parameter(torch.tensor(x)) for n, x in start(o, numpy).items()}
    cos, sin, _ = [torch.tensor(a) for a in tables(o, numpy)]
    D, d, H, B, T = o["d"] // o["H"], o["d"], o["H"], o["B"], o["T"]

    def rotate(a):
        a1, a2 = a.chunk(2, -1)
        return torch.cat([a1 * cos - a2 * sin, a1 * sin + a2 * cos], -1)

    def loss(x, y):
        h = F.embedding(x, p["e"])
        for l in range(o["L"]):
            q, k, v = (F.rms_norm(h, (d,), p[f"{l}n1"], 1e-5) @ p[f"{l}qkv"]).view(B, T, 3, H, D).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
            h = h + a.transpose(1, 2).reshape(B, T, d) @ p[f"{l}o"]
            n = F.rms_norm(h, (d,), p[f"{l}n2"], 1e-5)
            u = F.silu(n @ p[f"{l}w1"]) * (n @ p[f"{l}w2"]) if f"{l}w2" in p else F.relu(n @ p[f"{l}w1"])
            h = h + u @ p[f"{l}w3"]
        return F.cross_entropy((F.rms_norm(h, (d,), p["n"], 1e-5) @ p["c"]).flatten(0, 1), y.flatten())
    called = torch.compile(loss) if compiled else loss
    opt = torch.optim.AdamW(p.values(), lr=4e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def step():
        t = torch.randint(0, o["V"], (B, T + 1))
        opt.zero_grad(set_to_none=True)
        called(t[:, :-1], t[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        opt.step()
    return timed(step), torch.__version__


def run_jax(o):
    import numpy, jax
    import jax.numpy as np
    cos, sin, mask = [np.array(a) for a in tables(o, numpy)]
    p = {n: np.array(x) for n, x in start(o, numpy).items()}
    m, v = ({n: np.zeros_like(x) for n, x in p.items()} for _ in range(2))

    def loss(p, x, y):
        act = jax.nn.silu if o["V"] > 27 else jax.nn.relu
        z = decoder(p, x, o, cos, sin, mask, np.concatenate, lambda a: jax.nn.softmax(a, axis=-1), act)
        return (jax.nn.logsumexp(z, axis=-1) - np.take_along_axis(z, y[..., None], -1)[..., 0]).mean()

    def whole(p, m, v, t, x, y):
        return adamw(p, jax.grad(loss)(p, x, y), m, v, t, np.sqrt, lambda a: np.minimum(a, 1))
    called, state, rng = jax.jit(whole, donate_argnums=(0, 1, 2)), [p, m, v, 0], numpy.random.default_rng(1)

    def step():
        t = rng.integers(0, o["V"], (o["B"], o["T"] + 1)).astype("int32")
        state[3] += 1
        state[:3] = called(*state[:3], np.float32(state[3]), t[:, :-1], t[:, 1:])
        jax.block_until_ready(state[0])
    return timed(step), jax.__version__


def run_mlx(o):
    import numpy
    import mlx.core as mx
    from importlib.metadata import version
    mx.set_default_device(mx.cpu)
    cos, sin, mask = [mx.array(a) for a in tables(o, numpy)]
    p = {n: mx.array(x) for n, x in start(o, numpy).items()}
    m, v = ({n: mx.zeros_like(x) for n, x in p.items()} for _ in range(2))

    def loss(p, x, y):
        act = (lambda a: a * mx.sigmoid(a)) if o["V"] > 27 else (lambda a: mx.maximum(a, 0))
        z = decoder(p, x, o, cos, sin, mask, mx.concatenate, lambda a: mx.softmax(a, axis=-1), act)
        return (mx.logsumexp(z, axis=-1) - mx.take_along_axis(z, y[..., None], -1)[..., 0]).mean()
    gradient, state, rng = mx.grad(loss), [p, m, v, 0], numpy.random.default_rng(1)

    def whole(p, m, v, t, x, y):
        return adamw(p, gradient(p, x, y), m, v, t, mx.sqrt, lambda a: mx.minimum(a, 1))
    called = mx.compile(whole) if os.environ.get("MLX_COMPILE") else whole   # its CPU build compiles by a C++ compiler

    def step():
        t = rng.integers(0, o["V"], (o["B"], o["T"] + 1)).astype("int32")
        state[3] += 1
        state[:3] = called(*state[:3], mx.array(float(state[3])), mx.array(t[:, :-1]), mx.array(t[:, 1:]))
        mx.eval(state[0], state[1], state[2])
    return timed(step), version("mlx")


def run_tinygrad(o):
    os.environ.update(DEV="CPU", TRAINING="1")
    import numpy
    from importlib.metadata import version
    from tinygrad import Tensor, TinyJit
    from tinygrad.nn.optim import AdamW
    cos, sin, mask = [Tensor(a) for a in tables(o, numpy)]
    p = {n: Tensor(x).contiguous().realize() for n, x in start(o, numpy).items()}
    opt = AdamW(list(p.values()), lr=4e-4, b1=0.9, b2=0.95, weight_decay=0.1)

    @TinyJit
    def whole(x, y):
        opt.zero_grad()
        act = Tensor.silu if o["V"] > 27 else Tensor.relu
        z = decoder(p, x, o, cos, sin, mask, lambda a, axis: a[0].cat(a[1], dim=axis), lambda a: a.softmax(-1), act)
        loss = z.flatten(0, 1).sparse_categorical_crossentropy(y.flatten())
        loss.backward()
        size = sum((t.grad * t.grad).sum() for t in p.values()).sqrt()
        for t in p.values():
            t.grad = t.grad * (1 / (size + 1e-6)).minimum(1)
        return loss.realize(*opt.schedule_step())
    rng = numpy.random.default_rng(1)

    def step():
        t = rng.integers(0, o["V"], (o["B"], o["T"] + 1)).astype("int32")
        whole(Tensor(t[:, :-1]).realize(), Tensor(t[:, 1:]).realize()).item()
    return timed(step), version("tinygrad")


def run_sink(name):
    o = SIZES.get(name)
    flags = GPT2.split() + ["--steps", "3"] if not o else (
        f"--layers {o['L']} --heads {o['H']} --dim {o['d']} --ffn {o['f']} --vocab {o['V']} --context {o['T']} --batch {o['B']}".split()
        + (["--act", "relu"] if name == "microgpt" else []))
    out = subprocess.run(["./bench", "step", "--threads", str(len(os.sched_getaffinity(0)))] + flags, capture_output=True, text=True)
    found = re.match(r"step_ms=(\S+)", out.stdout)
    if not found:
        raise RuntimeError(out.stderr.strip())
    return float(found[1]), ""


def run_llm_c():
    """Built by its own Makefile; its weights are random, in its file's form."""
    source = os.environ.get("LLM_C", "")
    if not os.path.exists(os.path.join(source, "train_gpt2.c")):
        raise ImportError("LLM_C names no folder with train_gpt2.c")
    import numpy
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cp", "-r", source + "/.", folder], check=True)
        with open(folder + "/train_gpt2.c") as f:   # no look at held text before the first step
            text = f.read().replace("val_num_batches = 5", "val_num_batches = 0")
        with open(folder + "/train_gpt2.c", "w") as f:
            f.write(text)
        subprocess.run(["make", "-C", folder, "train_gpt2"], check=True, capture_output=True)
        T, V, P, L, H, C = 1024, 50257, 50304, 12, 12, 768
        with open(folder + "/gpt2_124M.bin", "wb") as f:
            f.write(struct.pack("<256i", 20240326, 3, T, V, L, H, C, P, *[0] * 248))
            count = P * C + T * C + L * (12 * C * C + 13 * C) + 2 * C
            numpy.random.default_rng(0).normal(0, 0.02, count).astype("<f4").tofile(f)
        os.makedirs(folder + "/dev/data/tinystories")
        for part in "train", "val":
            with open(f"{folder}/dev/data/tinystories/TinyStories_{part}.bin", "wb") as f:
                f.write(struct.pack("<256i", 20240520, 1, 8192, *[0] * 253))
                numpy.random.default_rng(1).integers(0, V, 8192).astype("<u2").tofile(f)
        threads, took = str(len(os.sched_getaffinity(0))), []
        program = subprocess.Popen(["stdbuf", "-oL", "./train_gpt2"], cwd=folder, stdout=subprocess.PIPE, text=True,
                                   env=dict(os.environ, OMP_NUM_THREADS=threads))
        for line in program.stdout:
            found = re.search(r"took (\S+) ms", line)
            took += [float(found[1])] if found else []
            if len(took) == (3 if QUICK else 6):
                break
        program.kill()
        program.wait()
    return statistics.median(took[1:]), "its Makefile: -Ofast -march=native"


def child(peer, size):
    o = SIZES.get(size)
    run = {"sink": lambda: run_sink(size), "PyTorch eager": lambda: run_torch(o, False), "PyTorch compile": lambda: run_torch(o, True),
           "JAX": lambda: run_jax(o), "tinygrad": lambda: run_tinygrad(o), "MLX": lambda: run_mlx(o), "llm.c": run_llm_c}[peer]
    try:
        ms, version = run()
        print("\n" + json.dumps({"ms": ms, "version": version}))
    except ImportError as error:
        print("\n" + json.dumps({"absent": str(error)}))


def main():
    all_cores, notes, versions = sorted(os.sched_getaffinity(0)), [], {}
    counts = sorted({1, min(2, len(all_cores))})
    rounds = 1 if QUICK else 3
    if "--rounds" in sys.argv:
        rounds = int(sys.argv[sys.argv.index("--rounds") + 1])
    sizes = list(SIZES) + ["GPT-2 124M"]
    took = {}
    for r in range(rounds):
        for size in sizes:
            for threads in counts if size != "microgpt" else [1]:
                for peer in PEERS:
                    if (peer == "llm.c") != (size == "GPT-2 124M") and peer != "sink" or (peer, "absent") in took:
                        continue
                    print(f"round {r + 1}: {size}, {threads} threads, {peer}", file=sys.stderr, flush=True)
                    limit = LIMIT * (3 if peer == "llm.c" else 1)
                    with tempfile.TemporaryDirectory() as folder:
                        child = subprocess.Popen(
                            [sys.executable, __file__, "--child", peer, size] + ["--quick"] * QUICK, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, all_cores[:threads]),
                            env=dict(os.environ, OMP_NUM_THREADS=str(threads), TMPDIR=folder))
                        try:
                            out, err = child.communicate(timeout=limit)
                            said = json.loads(out.strip().split("\n")[-1])
                        except ValueError:
                            said = {"error": (err.strip().split("\n") or ["no figure"])[-1][:200]}
                        except BaseException as why:               # of the child's programs none stays
                            os.killpg(child.pid, signal.SIGKILL)
                            child.wait()
                            if not isinstance(why, subprocess.TimeoutExpired):
                                raise
                            said = {"error": f"no figure within {limit} s"}
                    if "ms" in said:
                        took.setdefault((peer, size, threads), []).append(said["ms"])
                        versions[peer] = said["version"]
                    else:
                        note = f"{peer}: skipped, {said['absent']}" if "absent" in said else f"{peer}, {size}, {threads}: {said['error']}"
                        if "absent" in said:
                            took[peer, "absent"] = []
                        notes += [note] if note not in notes else []
    cpu = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read()) if os.path.exists("/proc/cpuinfo") else None
    print("# Training steps beside peers\n\n`python3 data/check/peers.py`" + (" `--quick`" if QUICK else "") +
          f", {time.strftime('%Y-%m-%d')}, {cpu[1] if cpu else 'processor not named'}, {len(all_cores)} cores; load {os.getloadavg()[0]:.1f} at the end.\n"
          f"Medians of {rounds} programs, in turns. The same decoder, but for llm.c; float32, AdamW, clip 1 (llm.c: no clip).\n"
          "sink: the plain build line with OpenMP, without fast-math.\n")
    columns = [(s, t) for s in sizes for t in counts if s != "microgpt" or t == 1]
    print("| ms a step | " + " | ".join(f"{s}, {t} thread{'s' * (t > 1)}" if s != "microgpt" else "16 dims, one sample: microseconds" for s, t in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for peer in PEERS:
        row = [took.get((peer, s, t)) for s, t in columns]
        if any(row):
            text = [f"{statistics.median(x) * (1000 if s == 'microgpt' else 1):.3g}" if x else "" for x, (s, t) in zip(row, columns)]
            print(f"| {peer} {versions[peer] if peer != 'llm.c' else ''} | " + " | ".join(text) + " |")
    print("\nSizes: " + "; ".join(f"{n}: " + ", ".join(f"{k} {v}" for k, v in o.items()) for n, o in SIZES.items()) +
          "; GPT-2 124M: 4 sequences of 64 tokens.\nmicrogpt: its width, heads and context, here with rotary positions; one layer, no gate.")
    if notes:
        print("\nNot here:\n\n" + "\n".join(f"- {n}" for n in notes))


if "--child" in sys.argv:
    at = sys.argv.index("--child")
    child(sys.argv[at + 1], sys.argv[at + 2])
else:
    import importlib.util
    if not any(importlib.util.find_spec(name) for name in ("torch", "jax", "tinygrad", "mlx")):
        sys.exit("peers.py: expected a peer, found none. Try: pip install torch jax tinygrad mlx")
    main()
