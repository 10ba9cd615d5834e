#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random folders of a tokenizer.model, each loaded by Hugging Face's libraries and by ./hf.

    make sink hf && pip install transformers tokenizers sentencepiece protobuf
    python3 data/check/golden/hf_pieces.py [--count 100] [--seed 1]

The file is SentencePiece's, of 298 pieces; what stands beside it is drawn as hf_keys.py draws it. For
each folder ./hf must refuse it in one line that says what to try, or give the library's ids of every
text and the same token in front. `legacy` is false and add_bos_token given: without them
transformers 5.24 does otherwise than SentencePiece itself, whose ids ./hf gives. Exit status 1 when
one is wrong."""
import argparse
import json
import os
import struct
import sys
import tempfile

from needs import needs

needs("tokenizers", "transformers", "sentencepiece")

import hf_keys

WORDS = ["ab", "\u2581ab", "abc", "th", "the", "\u2581the", "in", "\u2581a", "s>", "<s", "im"]
WORDS += list("\u2581abcdefhinmst<>/|0xA_.[]PDpq")
SIZE = 3 + 256 + len(WORDS)
POOL = ["<|im_start|>", "<|end|>", "[PAD]", "<pad>", "ab", "abc", "the", "<s>", "</s>", "\u2581ab", "in"]
PARTS = POOL + ["<unk>", " ab", " abc", " ", "  ", "\n", "xab", "a b", "_", "\u00e9", "q", " d"]
BROKEN = "the library does not load it"


def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def bytes_of(field, text):
    return varint(field << 3 | 2) + varint(len(text)) + text


def number(field, n):
    return varint(field << 3) + varint(n)


def model():
    """A BPE with bytes to fall back to and a space in front, in protocol buffers."""
    of = [("<unk>", 0, 2), ("<s>", 0, 3), ("</s>", 0, 3)]
    of += [(f"<0x{b:02X}>", 0, 6) for b in range(256)]
    of += [(word, -k, 1) for k, word in enumerate(WORDS)]
    out = b"".join(bytes_of(1, bytes_of(1, text.encode()) + varint(2 << 3 | 5)
                            + struct.pack("<f", score) + number(3, kind)) for text, score, kind in of)
    return out + bytes_of(2, number(3, 2) + number(35, 1)) + bytes_of(
        3, bytes_of(1, b"identity") + number(3, 1) + number(4, 0) + number(5, 1))


def decoder(rng):
    told = {str(k): {"content": word, **rng.flags(10)} for k, word in enumerate(["<unk>", "<s>", "</s>"])}
    for k, word in enumerate(rng.sample(POOL[:4], rng.randrange(4))):
        told[str(SIZE + k + rng.one_in(20))] = {"content": word, **rng.flags(6)}
    if rng.one_in(4):
        told[str(SIZE - 1)] = {"content": "q", **rng.flags(6)}
    return told


def folder_of(rng):
    config = {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>",
              "unk_token": "<unk>", "legacy": False, "add_bos_token": bool(rng.one_in(2))}
    if rng.one_in(2):
        config["added_tokens_decoder"] = decoder(rng)
    if rng.one_in(4):
        config[rng.choice(["additional_special_tokens", "extra_special_tokens"])] = rng.sample(
            POOL, rng.randrange(3))
    for key in ("pad_token", "sep_token", "mask_token", "image_token"):
        if rng.one_in(6):
            config[key] = hf_keys.named(rng, rng.choice(POOL))
    if rng.one_in(4):
        config[rng.choice(["bos_token", "eos_token", "unk_token"])] = rng.choice(POOL)
    for key in ("add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces"):
        if rng.one_in(5):
            config[key] = bool(rng.one_in(2))
    files = {"tokenizer_config.json": config}
    if rng.one_in(5):
        files["special_tokens_map.json"] = {rng.choice(["pad_token", "bos_token"]): rng.choice(POOL)}
    if rng.one_in(5):
        words = [w for w in rng.sample(POOL[:6], rng.randrange(4)) if w not in WORDS] or ["[PAD]"]
        more = {w: SIZE + k + rng.one_in(20) for k, w in enumerate(words)}
        more.update({w: 259 + WORDS.index(w) for w in POOL[4:6] if rng.one_in(6)})
        files["added_tokens.json"] = dict(sorted(more.items()))
    return files


def one(number_of, seed):
    """(files, texts, the library's answer, ours)."""
    rng = hf_keys.Draw(f"pieces {seed} {number_of}")
    files = folder_of(rng)
    texts = ["".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 7))) for _ in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/tokenizer.model", "wb") as out:
            out.write(model())
        for file, value in files.items():
            with open(f"{folder}/{file}", "w", encoding="utf-8") as out:
                json.dump(value, out)
        mine = hf_keys.ours(folder, texts)
        try:
            theirs = None if isinstance(mine, str) else hf_keys.library(folder, texts)
        except Exception as error:
            theirs = f"{BROKEN}: {error}"
    return files, texts, theirs, mine


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not (os.path.exists("./hf") and os.path.exists("./sink")):
        sys.exit("hf_pieces.py: expected ./sink and ./hf, found none. Try: make sink hf")
    refused = wrong = 0
    for k in range(args.count):
        files, texts, theirs, mine = one(k, args.seed)
        told = isinstance(mine, str)
        refused += told
        if not (told and hf_keys.in_one_line(mine, files) or mine == theirs):
            wrong += 1
            print(f"{k}: library {theirs}, sink {mine}\n    {json.dumps(texts)} {json.dumps(files)}")
    print(f"{args.count} folders, {refused} refused, {wrong} wrong")
    return 1 if wrong or refused == args.count else 0


if __name__ == "__main__":
    sys.exit(main())
