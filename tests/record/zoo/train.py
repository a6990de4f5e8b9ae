# SPDX-License-Identifier: MIT
"""A training step of popular models, by name."""
import sys
import torch
import transformers as tf

SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
         "intermediate_size": 512}
LLAMA = dict(SMALL, vocab_size=1000, num_key_value_heads=2)
EXPERTS = dict(LLAMA, num_local_experts=8, max_position_embeddings=512)
ids = torch.randint(0, 1000, (4, 64))
text = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
picture = {"pixel_values": torch.rand(4, 3, 224, 224),
           "labels": torch.randint(0, 2, (4,))}
sound = {"input_features": torch.rand(2, 80, 3000), "labels": ids[:2]}
NAMES = {
    "bert": (tf.BertForMaskedLM, tf.BertConfig(**SMALL), text),
    "t5": (tf.T5ForConditionalGeneration, tf.T5Config(
        vocab_size=1000, d_model=128, d_ff=512, num_layers=2, num_heads=4,
        d_kv=32, decoder_start_token_id=0), text),
    "vit": (tf.ViTForImageClassification, tf.ViTConfig(**SMALL), picture),
    "whisper": (tf.WhisperForConditionalGeneration, tf.WhisperConfig(
        vocab_size=1000, d_model=128, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=512, decoder_ffn_dim=512, pad_token_id=0,
        bos_token_id=1, eos_token_id=2, decoder_start_token_id=1), sound),
    "qwen3": (tf.Qwen3ForCausalLM, tf.Qwen3Config(**LLAMA), text),
    "gemma2": (tf.Gemma2ForCausalLM, tf.Gemma2Config(
        **LLAMA, head_dim=32), text),
    "mixtral_grouped": (tf.MixtralForCausalLM, tf.MixtralConfig(
        **EXPERTS, experts_implementation="grouped_mm"), text),
    "mamba": (tf.MambaForCausalLM, tf.MambaConfig(
        vocab_size=1000, hidden_size=128, num_hidden_layers=2),
        {"input_ids": ids}),
}
torch.manual_seed(0)
build, config, inputs = NAMES[sys.argv[1]]
model = build(config).cuda()
inputs = {name: value.cuda() for name, value in inputs.items()}
inputs.setdefault("labels", inputs.get("input_ids"))
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(**inputs).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
