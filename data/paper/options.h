/* Rows of OPTIONS (sink.c, 16.1) that only the companions have.
 *
 * SPDX-License-Identifier: MIT
 *
 * The page of a model, tables of several, ablations; and the layers of Jamba, which are read from a
 * published model and run forward only. */
#define MORE_OPTIONS \
  {"report", 'p', 's', AT(report), STRING("FILE"), "curves, maps and norms [train: OUT.html]"}, \
  {"n", 'p', 'i', AT(eval_n), "100", 1, 1 << 20, "N", "sequences it is measured on"}, \
  {"start", 'f', 's', AT(start), STRING("MODEL"), "train it further, from step 0 (Figure 30)"}, \
  {"replace-position", 'a', 'i', AT(replace_position), "0", 2, 1 << 24, "T", "p_1 becomes p_T"}, \
  {"swap-position", 'a', 'i', AT(swap_position), "0", 2, 1 << 24, "T", "p_1 and p_T swap"}, \
  {"inputs", 'y', 'b', AT(inputs), ON_OFF, "natural, random, repeat, a line each (Table 1)"}, \
  {"domains", 'y', 's', AT(domains), STRING("FOLDER"), "a line for each text in it (Figure 9)"}, \
  {"lengths", 'y', 's', AT(lengths), STRING("16,64"), "a line for each T (Figure 3)"}, \
  {"ablate", 'y', 'c', AT(ablate), WORDS("none", ABLATE), "the loss without it, and a control"}, \
  {"isolate", 'y', 'i', AT(isolate), "0", 1, 1 << 24, "T", "row T sees itself alone; a sink?"}, \
  {"isolate-blocks", 'y', 'i', AT(isolate_blocks), "2", 1, 1024, "B", "in the first B blocks"}, \
  {"seed", 'y', 'i', AT(train.seed), "0", 0, 2147483647, "N", "of these three [the model's]"}, \
  {"probe", 'y', 'b', AT(probe), ON_OFF, "which block tells row 1: its norm, a linear probe"}, \
  {"signs", 'y', 'b', AT(signs), ON_OFF, "row mass, entropy, dead heads, kurtosis, .., by block"}, \
  {"quantize", 'y', 'i', AT(quantize), "0", 2, 24, "B", "the loss with B bits a number"}, \
  {"cache", 'v', 's', AT(cache), "", 0, 16, "dense|window|sink+window|recompute", "a policy [all]"}, \
  {"cache-size", 'v', 'i', AT(cache_size), "0", 1, 1 << 24, "W", "keys a row sees [the context]"}, \
  {"sinks", 'v', 'i', AT(sinks), "4", 1, 1 << 24, "S", "the first of them, which stay"}, \
  {"positions", 'v', 's', AT(positions), "cache", 0, 8, "cache|text", "what numbers the keys"}, \
  {"n", 'v', 'i', AT(how_many), "0", 2, 1 << 24, "N", "tokens of the text [4096]"}, \
  {"attention-period", MODEL('i', attention_period), "0", 1, 1024, "N", "where l mod N = offset"}, \
  {"attention-offset", MODEL('i', attention_offset), "0", 0, 1024, "N", "see --attention-period"}, \
  {"mamba-inner", MODEL('i', mamba_inner), "0", 1, 1 << 20, "I", "channels; default: 2 dim"}, \
  {"mamba-state", MODEL('i', mamba_state), "0", 1, 1 << 12, "M", "states; default: 16"}, \
  {"mamba-conv", MODEL('i', mamba_conv), "0", 1, 1 << 12, "J", "taps; default: 4"}, \
  {"mamba-rank", MODEL('i', mamba_rank), "0", 1, 1 << 20, "R", "of the step; default: dim / 16"}, \
  {"experts", MODEL('i', experts), "0", 1, 256, "X", "feed-forwards; default: one"}, \
  {"expert-top", MODEL('i', expert_top), "0", 1, 256, "N", "how many of them a row takes [2]"}, \
  {"expert-period", MODEL('i', expert_period), "0", 1, 1024, "N", "where l mod N = offset [all]"}, \
  {"expert-offset", MODEL('i', expert_offset), "0", 0, 1024, "N", "see --expert-period"}, \
  {"expert-limit", MODEL('d', expert_limit), "0", 1e-6, 1e6, "X", "gpt-oss's, cut at X [Jamba's]"}, \
  {"expert-slope", MODEL('d', expert_slope), "0", 1e-6, 1e6, "X", "of their sigmoid [1.702]"}, \
  {"behind-only", MODEL('b', behind_only), ON_OFF, "a sandwich without norms 1, 2 (OLMo 2)"}, \
  {"qk-whole", MODEL('b', qk_whole), ON_OFF, "QK-norm over all heads of a row (OLMo 2)"},
