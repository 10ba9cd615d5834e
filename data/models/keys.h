/* keys.h - the keys of config.json that change no number of a forward, for hf.c: who made the
 * file and how, ids, dropout, starts, classifiers, what is returned, cached or generated.
 *
 * SPDX-License-Identifier: MIT
 *
 * From the configuration classes of transformers 4 and 5 and the families' published files. Any
 * other key that neither facts.c nor families.c reads is refused, unless null, {} or []. */
static const char IDLE[] =
    " transformers_version _name_or_path name_or_path _commit_hash auto_map dtype torch_dtype "
    "torchscript use_bfloat16 return_dict output_attentions output_hidden_states use_cache "
    "is_decoder type prefix problem_type id2label label2id num_labels _num_labels "
    "finetuning_task task_specific_params n_ctx architectures tokenizer_class bos_token_id "
    "eos_token_id pad_token_id sep_token_id unk_token_id decoder_start_token_id "
    "initializer_range init_std dropout layerdrop scale_embeddings learned_embeddings "
    "attention_dropout attn_pdrop embd_pdrop resid_pdrop hidden_dropout activation "
    "activation_dropout classifier_dropout hidden_dropout_prob attention_probs_dropout_prob "
    "chunk_size_feed_forward gradient_checkpointing tf_legacy_loss tie_encoder_decoder "
    "attn_implementation _attn_implementation _attn_implementation_autoset pretraining_tp "
    "max_sequence_length is_llama_config n_special predict_special_tokens output_past "
    "reorder_and_upcast_attn summary_type summary_use_proj summary_activation "
    "summary_first_dropout summary_last_dropout summary_proj_to_labels "
    "calc_logits_for_entire_prompt num_logits_to_keep output_router_logits router_aux_loss_coef "
    "use_mamba_kernels use_mambapy use_associative_scan max_length min_length do_sample "
    "early_stopping num_beams num_beam_groups num_return_sequences diversity_penalty temperature "
    "top_k top_p typical_p repetition_penalty length_penalty no_repeat_ngram_size "
    "encoder_no_repeat_ngram_size bad_words_ids output_scores suppress_tokens "
    "begin_suppress_tokens return_dict_in_generate forced_bos_token_id forced_eos_token_id "
    "exponential_decay_length_penalty remove_invalid_values transformers.js_config "
    "cache_implementation unsloth_fixed unsloth_version ";
