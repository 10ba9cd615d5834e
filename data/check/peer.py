#!/usr/bin/env python3
"""PyTorch's figures of what ./bench measures, for ./bench --peer FILE:  python3 data/check/peer.py > FILE

Lines: gemm M N K WAY THREADS GFLOPS (torch.mm; WAY one of xW, dyW^T, x^Tdy) and step NAME THREADS MS (the same decoder,
the better of eager and torch.compile; AdamW, clip 1, float32). Names as arguments, of steps or gemm, leave all else out."""
import os, statistics, sys, time
try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError as error:
    sys.exit(f"peer.py: expected PyTorch, found: {error}. Try: pip install torch")

SHAPES = [(768, 768, 768), (2048, 1536, 768), (1024, 2048, 64), (64, 2048, 1024), (256, 50432, 768)]
STEPS = {"run": dict(d=64, L=4, H=2, f=128, V=2048, T=128, B=8), "dim256": dict(d=256, L=6, H=4, f=512, V=2048, T=256, B=8),
         "60M": dict(d=768, L=10, H=8, f=1536, V=50432, T=256, B=1), "60M-T2048": dict(d=768, L=10, H=8, f=1536, V=50432, T=2048, B=1)}
ALL = int(os.environ.get("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0)))).split(",")[0])


def timed(run, patience, most, first):
    for _ in range(first):
        run()
    took, begin = [], time.perf_counter()
    while len(took) < most and (len(took) < 3 or time.perf_counter() - begin < patience):
        t = time.perf_counter()
        run()
        took.append(time.perf_counter() - t)
    return statistics.median(took)


def gemm(m, n, k, threads):
    torch.set_num_threads(threads)
    a, at, b, bt, c = torch.rand(m, k), torch.rand(k, m), torch.rand(k, n), torch.rand(n, k), torch.zeros(m, n)
    ways = {"xW": lambda: torch.mm(a, b, out=c), "dyW^T": lambda: torch.mm(a, bt.t(), out=c), "x^Tdy": lambda: c.addmm_(at.t(), b)}
    for way, run in ways.items():
        print("gemm", m, n, k, way, threads, f"{2e-9 * m * n * k / timed(run, 2, 15, 2):.1f}", flush=True)


class Block(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.o, D = o, o["d"] // o["H"]
        self.n1, self.n2 = nn.RMSNorm(o["d"], 1e-5), nn.RMSNorm(o["d"], 1e-5)
        self.qkv, self.out = nn.Linear(o["d"], 3 * o["d"], bias=False), nn.Linear(o["d"], o["d"], bias=False)
        self.w1, self.w2 = nn.Linear(o["d"], o["f"], bias=False), nn.Linear(o["d"], o["f"], bias=False)
        self.w3 = nn.Linear(o["f"], o["d"], bias=False)
        angle = torch.arange(o["T"])[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def rotate(self, x):
        x1, x2 = x.chunk(2, -1)
        return torch.cat([x1 * self.cos - x2 * self.sin, x1 * self.sin + x2 * self.cos], -1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, T, 3, self.o["H"], -1).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        x = x + self.out(o.transpose(1, 2).reshape(B, T, C))
        h = self.n2(x)
        return x + self.w3(F.silu(self.w1(h)) * self.w2(h))


class Decoder(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.e, self.b = nn.Embedding(o["V"], o["d"]), nn.ModuleList(Block(o) for _ in range(o["L"]))
        self.n, self.c = nn.RMSNorm(o["d"], 1e-5), nn.Linear(o["d"], o["V"], bias=False)

    def forward(self, x, y):
        x = self.e(x)
        for block in self.b:
            x = block(x)
        return F.cross_entropy(self.c(self.n(x)).flatten(0, 1), y.flatten())


def step(o, compiled):
    model = Decoder(o)
    called = torch.compile(model) if compiled else model
    opt = torch.optim.AdamW(model.parameters(), lr=4e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)

    def run():
        t = torch.randint(0, o["V"], (o["B"], o["T"] + 1))
        opt.zero_grad(set_to_none=True)
        called(t[:, :-1], t[:, 1:]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    return timed(run, 12, 25, 3)


names = sys.argv[1:]
for shape in SHAPES if not names or "gemm" in names else []:
    for threads in sorted({1, ALL}):
        gemm(*shape, threads)
torch.set_num_threads(ALL)
for name, o in STEPS.items():
    if names and name not in names:
        continue
    best = []
    for compiled in (False, True):
        try:
            best.append(step(o, compiled))
        except Exception as error:          # torch.compile needs a C++ compiler
            print(name, error, file=sys.stderr)
    if not best:
        sys.exit(f"peer.py: step {name}: expected eager or torch.compile to run, found neither: see above. "
                 "Try: the other steps by their names")
    print("step", name, ALL, f"{1e3 * min(best):.2f}", flush=True)
