#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes hf_words.txt: tiny tokenizers with the parts that published families' tokenizer.json have,
what Hugging Face's libraries make of texts with them, and the greedy text of a tiny Qwen 2.

    pip install torch transformers tokenizers
    python3 hf_words.py [--check]

Their vocabularies are trained on TEXTS uncut, so that a wrong cut shows in the ids. The format is
hf_tiny.py's and golden.py's: first the lines of a model of the first tokenizer, with

    run T : ids                   the id that ends a text, with which sink begins one that has no
                                  bos; a prompt; and what follows greedily
    greedy PROMPT|TEXT            the prompt; it and the rest, in ASCII

then for each tokenizer these, all but the first of them JSON:

    tokenizer NAME END BOS FRONT  the ids that end and begin a text, -1: none; FRONT 1: bos is in front
    json {...}                    tokenizer.json, in one line
    config {...}                  tokenizer_config.json
    text [TEXT,TEXT,[IDS]]        a text; what its ids spell; they
"""
import json
import sys
import tempfile

from needs import needs

needs("tokenizers", "torch", "transformers")

import tokenizers
import torch
import transformers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as cuts
from tokenizers import processors, trainers
from transformers import GemmaTokenizer, Qwen2Config, Qwen2Tokenizer

import hf_families  # its tensors, from K = 1000 on
import hf_tiny
from golden import asked, finish

TEXTS = [
    "", " ", "\n", "\t\t\t", "  lead and trail   ", "a  b   c    d\n\n\n\n\ne\t\tf \n g",
    "It's we'LL I'Ve they'd x'S '\u017f don'T 3'll 's 'x \u2019s",
    "a 1 12 123 1234  5 \u00bd\u00b2 \u0663\u0664\u0665\u0666 \u0967\u0968\u0969\u096a \u0e51\u0e52 "
    "\u2167 \u3007 x1y22\n3 -4 (5)   \U00011de0\U00011de1",
    "one\r\ntwo\r\n\r\n three\n\n\n  four \t\t five\r\r six \u2028 seven\x85",
    "e\u0301 a\u0308\u0323 \u0344 \u1100\u1161\u11a8 \u2126 \u212b \u0301a !\u0301A \u093f1 x\u0301\u0302Y",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd \u2764\ufe0f!",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a \u0928\u092e\u0938\u094d\u0924\u0947 "
    "\u6c49\u5b57\u304b\u306a\u30fc\u4ea4\u3058\u308a \ud55c\uad6d\uc5b4 \u05e2\u05b4\u05d1\u05e8\u05b4",
    "HelloWorld HTMLParser fooBAR ABCdef'S ABC'll \u01c5a \u02b0aB a\u02b0BC \u00c9a \u00e9A A\u00aaB "
    "A\u0301B 1\u0301BC 2\u0301\nAb\n\u0301c\rBc \u6c49A a\u6c49 \U0001d400b \ua7da\ua7db",
    "a/b //x\n/y !!\n\n/ \u00a0!\u3000z ...?!\r\n/x if (x==10) {y[3] = 0x1F;}  // done\n\treturn;\n",
    "<|endoftext|> in<|im_start|>the <think>middle  </think> <|im_end|>\n",
    "<|user|>  \n hi <|end|>\n<|assistant|> \u3000x  </s> y<s>z <|end|> \t",
    "\u2581 \u2581\u2581 a\u2581b  c\u2581\u2581\u2581 <bos>\n<start_of_turn>user\n\n\n x<table>  ",
    "\x00\x01\x7f\ufffd\ufeff\u200b\u00ad z",
]


def special(text, **more):
    return AddedToken(text, special=True, normalized=False, **more)


END = special("<|endoftext|>")
CHAT = [special("<|im_start|>"), special("<|im_end|>"), AddedToken("<think>", normalized=False),
        AddedToken("</think>", normalized=False)]
WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CASES = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
         r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
         r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def trained(tokenizer, size, **more):
    """(vocabulary, merges) of a tokenizer trained on the texts."""
    tokenizer.train_from_iterator(TEXTS + TEXTS[12:13] * 9, trainers.BpeTrainer(
        vocab_size=size, show_progress=False, max_token_length=12, **more))
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def of_bytes():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = cuts.ByteLevel(add_prefix_space=False, use_regex=False)
    return trained(tokenizer, 560, initial_alphabet=sorted(cuts.ByteLevel.alphabet()))


def of_characters(marks):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    runs = ["\u2581" * n for n in range(2, 6)] + ["\n" * n for n in range(1, 4)]
    return trained(tokenizer, 600, limit_alphabet=90, special_tokens=marks + [
        f"<0x{byte:02X}>" for byte in range(256)]), runs


def byte_level(pre_tokenizer, added):
    vocabulary, merges = of_bytes()
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_tokens(added)
    return tokenizer


def split(expression, behavior="isolated", invert=False):
    return cuts.Sequence([cuts.Split(Regex(expression), behavior, invert),
                          cuts.ByteLevel(add_prefix_space=False, use_regex=False)])


def qwen2():
    vocabulary, merges = of_bytes()
    tokenizer = Qwen2Tokenizer(vocabulary, merges)
    tokenizer.add_tokens(CHAT)
    return tokenizer


def smollm():
    return byte_level(cuts.Sequence([cuts.Digits(individual_digits=True),
                                     cuts.ByteLevel(add_prefix_space=False)]), [END] + CHAT), {}


def gemma():
    marks = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    (vocabulary, merges), runs = of_characters(marks)
    for run in runs:                             # each run is a token, made by merges
        for left in range(1, len(run)):
            if run not in vocabulary:
                vocabulary[run] = len(vocabulary)
            merges.append((run[:left], run[left:]))
    merges = [pair for i, pair in enumerate(merges) if pair not in merges[:i]]
    tokenizer = GemmaTokenizer(vocab=vocabulary, merges=merges)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<bos> $A", special_tokens=[("<bos>", 2)])
    tokenizer.add_tokens([AddedToken(run, normalized=False) for run in runs] +
                         [special("<start_of_turn>"), AddedToken("<table>", normalized=False)])
    return tokenizer


def phi3():
    (vocabulary, merges), _ = of_characters(["<unk>", "<s>", "</s>"])
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", fuse_unk=True,
                                     byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"),
                                                 normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    tokenizer.add_tokens([special("<unk>"), special("<s>"),
                          AddedToken("</s>", normalized=False, rstrip=True), END] +
                         [special(x, rstrip=True) for x in ("<|assistant|>", "<|end|>", "<|user|>")])
    return tokenizer, {"eos_token": "<|endoftext|>", "bos_token": "<s>", "add_bos_token": False}


def olmo2():
    return byte_level(split(WORDS, "removed", True), [END] + CHAT), {"eos_token": "<|endoftext|>"}


def phi4():
    marks = [special(x.content, lstrip=True, rstrip=True) for x in [END] + CHAT]
    return byte_level(split(WORDS, "removed", True), marks), {"eos_token": "<|im_end|>"}


def gpt_oss():
    marks = [special("<|startoftext|>"), END, special("<|return|>")]
    return byte_level(split(CASES), marks), {"bos_token": "<|startoftext|>",
                                             "eos_token": "<|return|>"}


def ascii_json(text):
    return json.dumps(json.loads(text), separators=(",", ":"))


def case(make):
    """(lines, tokenizer) of one kind; a pair is a tokenizer and its config."""
    made = make()
    if isinstance(made, tuple):
        tokenizer, config = made[0], json.dumps(made[1])
        ends = [tokenizer.token_to_id(made[1].get(key) or "<|endoftext|>")
                for key in ("eos_token", "bos_token")]
    else:
        with tempfile.TemporaryDirectory() as folder:
            made.save_pretrained(folder)
            with open(folder + "/tokenizer.json", encoding="utf-8") as file:
                tokenizer = Tokenizer.from_str(file.read())
            with open(folder + "/tokenizer_config.json", encoding="utf-8") as file:
                config = file.read()
        ends = [made.eos_token_id, made.bos_token_id]
        if made.bos_token_id is None:
            ends[1] = tokenizer.token_to_id("<|endoftext|>")
    front = len(tokenizer.encode("x").ids) > len(tokenizer.encode("x", add_special_tokens=False).ids)
    lines = [f"tokenizer {make.__name__} {ends[0]} {ends[1]} {front:d}",
             "json " + ascii_json(tokenizer.to_str()), "config " + ascii_json(config)]
    return lines + [words(tokenizer, text) for text in TEXTS], tokenizer


def words(tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    back = tokenizer.decode(ids, skip_special_tokens=False)
    assert "\ufffd" in text or "\ufffd" not in back, text
    return "text " + json.dumps([text, back, ids], separators=(",", ":"))


PROMPT, MORE = "We'Ll see 1234 </think> times", 8


def greedy(k, tokenizer):
    """The lines of a model whose greedy text is clear, in ASCII and not always the same."""
    told = json.loads(tokenizer.to_str())        # the model has no row for its last added token
    last = told["added_tokens"].pop()
    tokenizer = Tokenizer.from_str(json.dumps(told))
    assert last["id"] == tokenizer.get_vocab_size() and last["content"] in PROMPT
    config = Qwen2Config(**{**hf_families.TINY, "vocab_size": last["id"]})
    with tempfile.TemporaryDirectory() as folder:
        told = hf_tiny.saved(transformers.AutoModelForCausalLM.from_config(config), folder, "1GB")
        (name, data), = hf_tiny.files_of(folder).items()
        listing = hf_tiny.listing_of(data)
        while True:
            data = hf_tiny.file_bytes(k, listing)
            hf_tiny.put(folder, name, data)
            model = hf_tiny.loaded(folder, False)
            ids = [tokenizer.token_to_id("<|endoftext|>")] + tokenizer.encode(PROMPT).ids
            made = model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=MORE,
                                  output_logits=True, return_dict_in_generate=True)
            best = torch.stack(made.logits)[:, 0].topk(2).values
            more = made.sequences[0].tolist()[len(ids):]
            text = tokenizer.decode(ids[1:] + more, skip_special_tokens=False)
            if (len(more) == MORE and len(set(more)) > MORE / 2 and
                    text.isascii() and text.isprintable() and
                    float((best[:, 0] - best[:, 1]).min()) > 0.01):
                break
            k += 1
    listed = " ".join(f"{x}:{d}:{','.join(map(str, s))}" for x, d, s in listing)
    return [f"case qwen2-greedy {k}", "config " + json.dumps(told, sort_keys=True), "layout",
            f"file {name} {hf_tiny.hash64(data):016x} {listed}",
            f"run {len(ids + more)} : " + " ".join(map(str, ids + more)),
            f"greedy {PROMPT}|{text}"]


def main():
    asked()
    torch.set_num_threads(1)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    lines = [f"made with tokenizers {tokenizers.__version__}, transformers {transformers.__version__}"
             f", torch {torch.__version__}"]
    kinds = (qwen2, smollm, gemma, phi3, olmo2, phi4, gpt_oss)
    cases = [case(make) for make in kinds]
    for more in [greedy(1100, cases[0][1])] + [more for more, _ in cases]:
        lines += more
    return finish(lines, len(kinds) + 1, "cases", "hf_words.txt", 0)


if __name__ == "__main__":
    sys.exit(main())
