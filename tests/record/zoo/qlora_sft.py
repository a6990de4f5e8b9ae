# SPDX-License-Identifier: MIT
"""QLoRA: trl trains adapters of a Llama in 4 bits, with paged 8-bit AdamW."""
import tempfile
import torch
import bitsandbytes  # noqa: F401
import trl
from datasets import Dataset
from peft import LoraConfig
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM,
                          PreTrainedTokenizerFast, set_seed)

set_seed(0)
words = {f"w{i}": i for i in range(100)} | {"<pad>": 100, "<eos>": 101}
tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
texts = [" ".join(f"w{i * j % 90}" for j in range(i % 17 + 3))
         for i in range(32)]
with tempfile.TemporaryDirectory() as folder:
    LlamaForCausalLM(LlamaConfig(
        vocab_size=128, hidden_size=256, intermediate_size=768,
        num_hidden_layers=2, num_attention_heads=4, pad_token_id=100,
        bos_token_id=101, eos_token_id=101)).save_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(
        folder, device_map={"": 0}, quantization_config=BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16))
    trl.SFTTrainer(
        model, processing_class=tokenizer,
        train_dataset=Dataset.from_dict({"text": texts}),
        peft_config=LoraConfig(r=8, target_modules="all-linear"),
        args=trl.SFTConfig(
            folder, max_steps=3, per_device_train_batch_size=4,
            gradient_accumulation_steps=2, gradient_checkpointing=True,
            bf16=True, optim="paged_adamw_8bit", max_length=64, report_to=[],
            disable_tqdm=True, save_strategy="no")).train()
