#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `hf export` writes, held against sink by Hugging Face's transformers library.

    make sink hf && pip install torch transformers
    python3 data/check/golden/hf_check.py                 trains the models of MODELS, some seconds each
    python3 data/check/golden/hf_check.py MODEL ...       checkpoints of yours, trained with tokenizer.bin

From the folder that holds ./sink and ./hf. For every model, as transformers loads the exported
folder:

    logits    |theirs - ours| for random ids over the whole context, ours from `sink dump`: at most
              1e-5, or 4 times what float and double differ by in torch for this model
    greedy    `generate` continues a prompt as `hf generate --temperature 0` does
    ids       the tokenizer gives the ids of `hf tokenize encode`, and decodes them to the text;
              for the first model only, since all have the same

The rounding of a logit grows with it: the models here have logits up to 15, where a step between
floats is 1e-6. One line a model with the largest error; exit status 0 when everything agrees.
"""
import copy
import os
import random
import subprocess
import sys

from needs import needs

needs("numpy", "torch", "transformers")

import numpy as np
import torch
import transformers

BOUND = 1e-5
OUT = "out/hf_check"
SMALL = "--layers 3 --heads 4 --dim 64 --ffn 96 --context 96 --batch 4 --warmup 20 "
MODELS = {
    "plain": "",
    "grouped": "--kv-heads 2",
    "one-key-head": "--kv-heads 1 --tied",
    "tied": "--tied --norm-eps 1e-3",
    "wide-heads": "--head-dim 24 --kv-heads 2",
    "interleaved": "--rope-pairing interleaved --kv-heads 2",
    "biases": "--linear-bias --rope-pairing interleaved --bos",
    "geglu": "--act geglu --norm-eps 1",
    "reglu": "--act reglu --fix-token 1",
    "linear": "--rope-scaling linear --rope-factor 4",
    "llama3": "--rope-scaling llama3 --rope-base 500 --rope-original 32 --rope-factor 8",
    "padded": "--vocab 2100 --rope-base 500000",
}
PROMPT = "Once there was a "
TEXTS = [
    "The king's  horse, 12345 miles away \u2014 w\u00f6rld\n\n  and\tso on...   ",
    " ", "", "\n a", "x \n\n y", "a\u00a0b\u00ad \u20ac\U0001f600\u3000z \x7f\x00\x1f\x85",
    "e" * 300, " " * 300 + "e", "\u00e9" * 200, "-" * 129 + " " + "=" * 128, "1" * 20 + " 1234",
]


def sink(*words, text=None):
    """What ./hf, which has sink's verbs, writes on stdout for these words, as bytes."""
    return subprocess.run(["./hf", *words], input=text, capture_output=True, check=True).stdout


def made(name, flags):
    """The path of a trained model."""
    path = f"{OUT}/{name}.ckpt"
    sink("train", "--quiet", "--steps", "200", "--out", path, "--force", *SMALL.split(), *flags.split())
    return path


def check_ids(tokenizer):
    """What the tokenizer does otherwise than sink's, a line each; and how many texts it had."""
    rng, wrong = random.Random(2), []
    drawn = ["".join(rng.choice(" \n\tab1.-\u00e9\u4e2d\u00ad'") for _ in range(400))
             for _ in range(50)]
    for text in TEXTS + drawn:
        want = [int(x) for x in sink("tokenize", "encode", text=text.encode()).split()]
        got = tokenizer(text, add_special_tokens=False).input_ids
        if want != got:
            wrong.append(f"ids of {text!r}: {want} and {got}")
        elif tokenizer.decode(got) != text:
            wrong.append(f"text of {text!r}: {tokenizer.decode(got)!r}")
    return wrong, len(TEXTS) + len(drawn)


def check(path, name, first):
    """Exports one checkpoint; the largest error of a logit, and whether all agrees."""
    folder, wrong = f"{OUT}/{name}-llama", []
    subprocess.run(["./hf", "export", path, folder, "--force"], stdout=subprocess.DEVNULL, check=True)
    model, loading = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", output_loading_info=True)
    wrong += [f"{k}: {v}" for k, v in loading.items() if v]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    V, T = model.config.vocab_size, model.config.max_position_embeddings

    ids = np.random.default_rng(1).integers(0, V, (3, T + 1))
    np.savetxt(f"{OUT}/ids", ids, fmt="%d")
    sink("dump", path, "--ids", f"{OUT}/ids", "--out", f"{OUT}/dump", "--force")
    ours = np.load(f"{OUT}/dump/logits.npy")
    with torch.no_grad():
        theirs = model(torch.tensor(ids[:, :T])).logits.numpy()
        exact = copy.deepcopy(model).double()(torch.tensor(ids[:, :T])).logits.numpy()
    bound = max(BOUND, 4 * float(np.abs(theirs - exact).max()))
    error = float(np.abs(ours - theirs).max())       # NaN fails too
    if ours.shape != theirs.shape or not error <= bound:
        wrong.append(f"logits: shapes {ours.shape} {theirs.shape}, error {error:.3g}")

    prompt = tokenizer(PROMPT, return_tensors="pt")
    tokens = min(60, T - prompt.input_ids.shape[1])     # beyond the context sink drops tokens
    text = sink("generate", path, "--temperature", "0", "--n", str(tokens),
                "--prompt", PROMPT).decode(errors="replace")
    told = model.generate(**prompt, max_new_tokens=tokens)
    theirs_text = tokenizer.decode(told[0], skip_special_tokens=True) + "\n"
    if text != theirs_text:
        wrong.append(f"greedy: {text!r} and {theirs_text!r}")

    note = ""
    if first:
        lines, texts = check_ids(tokenizer)
        wrong += lines
        note = f"; {texts} texts to ids and back"
    size = float(np.abs(ours).max())
    print(f"{name:14s} logits up to {size:6.2f}, error {error:.2e} (bound {bound:.0e}); greedy "
          f"{len(told[0])} tokens{note}   {'FAIL' if wrong else 'ok'}")
    for line in wrong[:3]:
        print("    " + line[:600])
    return error, not wrong


def main():
    missing = [name for name in ("./sink", "./hf") if not os.access(name, os.X_OK)]
    if missing:
        sys.exit(f"hf_check.py: expected {' and '.join(missing)} here, found none. Try: make sink hf")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    os.makedirs(OUT, exist_ok=True)
    paths = sys.argv[1:]
    named = {p.strip("/").replace("/", "_"): p for p in paths} or {n: made(n, f) for n, f in MODELS.items()}
    found = [check(path, name, i == 0) for i, (name, path) in enumerate(named.items())]
    print(f"transformers {transformers.__version__}, torch {torch.__version__}: "
          f"{sum(good for _, good in found)} of {len(found)} agree, "
          f"largest error {max(error for error, _ in found):.2e}")
    return not all(good for _, good in found)


if __name__ == "__main__":
    sys.exit(main())
