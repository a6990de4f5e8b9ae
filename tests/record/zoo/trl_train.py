# SPDX-License-Identifier: MIT
"""trl: supervised, with preferences, with rewards; its tokenizer is made
here."""
import sys
import tempfile
import trl
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (LlamaConfig, LlamaForCausalLM,
                          PreTrainedTokenizerFast, set_seed)

set_seed(0)
words = {f"w{i}": i for i in range(100)} | {"<pad>": 100, "<eos>": 101}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=128, hidden_size=64, intermediate_size=172,
    num_hidden_layers=2, num_attention_heads=4, pad_token_id=100,
    bos_token_id=101, eos_token_id=101))
common = {"max_steps": 2, "per_device_train_batch_size": 2, "report_to": [],
          "bf16": False, "disable_tqdm": True, "save_strategy": "no"}
with tempfile.TemporaryDirectory() as folder:
    common["output_dir"] = folder
    if sys.argv[1] == "sft":
        trainer = trl.SFTTrainer(
            model, args=trl.SFTConfig(**common, max_length=32),
            train_dataset=Dataset.from_dict({"text": ["w1 w2 w3 w4"] * 8}),
            processing_class=tokenizer)
    elif sys.argv[1] == "dpo":
        trainer = trl.DPOTrainer(
            model, LlamaForCausalLM(model.config),
            args=trl.DPOConfig(**common),
            train_dataset=Dataset.from_dict(
                {"prompt": ["w1 w2"] * 8, "chosen": ["w3"] * 8,
                 "rejected": ["w4 w5"] * 8}), processing_class=tokenizer)
    else:
        trainer = trl.GRPOTrainer(
            model, lambda completions, **_: [len(c) for c in completions],
            args=trl.GRPOConfig(**common, num_generations=2,
                                max_completion_length=8),
            train_dataset=Dataset.from_dict({"prompt": ["w1 w2"] * 8}),
            processing_class=tokenizer)
    trainer.train()
