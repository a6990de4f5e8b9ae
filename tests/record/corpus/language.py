# SPDX-License-Identifier: MIT
"""A model of transformers, with random weights: language.py MODEL WHAT.

WHAT: train, ragged (batches of varying lengths), checkpointed, sgd, infer or
generate.
"""
import sys

import torch
import transformers as t

random = torch.Generator().manual_seed(0)
small = {"vocab_size": 8000, "hidden_size": 512, "num_hidden_layers": 4,
         "num_attention_heads": 8, "intermediate_size": 2048}
grouped = dict(small, num_key_value_heads=2, intermediate_size=1408)
models = {
    "bert": (t.BertForMaskedLM, t.BertConfig(**small)),
    "deberta": (t.DebertaV2ForMaskedLM, t.DebertaV2Config(**small)),
    "gpt2": (t.GPT2LMHeadModel, t.GPT2Config(
        vocab_size=8000, n_embd=512, n_layer=4, n_head=8)),
    "opt": (t.OPTForCausalLM, t.OPTConfig(
        vocab_size=8000, hidden_size=512, num_hidden_layers=4, ffn_dim=2048,
        num_attention_heads=8, word_embed_proj_dim=512)),
    "bloom": (t.BloomForCausalLM, t.BloomConfig(
        vocab_size=8000, hidden_size=512, n_layer=4, n_head=8)),
    "llama": (t.LlamaForCausalLM, t.LlamaConfig(**grouped)),
    "qwen": (t.Qwen2ForCausalLM, t.Qwen2Config(**grouped)),
    "gemma": (t.GemmaForCausalLM, t.GemmaConfig(**grouped, head_dim=64)),
    "phi": (t.PhiForCausalLM, t.PhiConfig(**small)),
    "mixtral": (t.MixtralForCausalLM, t.MixtralConfig(
        **grouped, num_local_experts=4)),
    "t5": (t.T5ForConditionalGeneration, t.T5Config(
        vocab_size=8000, d_model=512, d_ff=2048, num_layers=4, num_heads=8,
        decoder_start_token_id=0)),
    "bart": (t.BartForConditionalGeneration, t.BartConfig(
        vocab_size=8000, d_model=512, encoder_layers=3, decoder_layers=3,
        encoder_ffn_dim=2048, decoder_ffn_dim=2048)),
}


def length(step, what):
    """A batch of tokens: always of the same length, or of varying ones."""
    if what != "ragged":
        return 256
    return int(torch.randint(32, 512, (), generator=random))


def train(model, what):
    if what == "checkpointed":
        model.gradient_checkpointing_enable()
    make = torch.optim.SGD if what == "sgd" else torch.optim.AdamW
    optimizer = make(model.parameters(), lr=1e-4)
    for step in range(6):
        ids = torch.randint(8000, (8, length(step, what)), generator=random)
        ids = ids.cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.inference_mode()
def infer(model):
    for _ in range(12):
        ids = torch.randint(8000, (4, length(0, "ragged")), generator=random)
        model(input_ids=ids.cuda())


def generate(model):
    for batch in (2, 6, 4):
        ids = torch.randint(1, 8000, (batch, 64), generator=random).cuda()
        model.generate(ids, max_new_tokens=32, min_new_tokens=32,
                       pad_token_id=0)


kind, config = models[sys.argv[1]]
with torch.device("cuda"):
    network = kind(config)
if sys.argv[2] == "infer":
    infer(network.half().eval())
elif sys.argv[2] == "generate":
    generate(network.bfloat16().eval())
else:
    train(network, sys.argv[2])
