# SPDX-License-Identifier: MIT
"""A network for images or sound, with random weights: vision.py MODEL WHAT.

WHAT: train or infer, with batches and images of several sizes.
"""
import sys

import torch
import transformers as t

models = {
    "vit": (t.ViTForImageClassification, t.ViTConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=6,
        intermediate_size=1536), (3, 224, 224)),
    "swin": (t.SwinForImageClassification, t.SwinConfig(), (3, 224, 224)),
    "convnext": (t.ConvNextForImageClassification, t.ConvNextConfig(),
                 (3, 224, 224)),
    "resnet": (t.ResNetForImageClassification, t.ResNetConfig(),
               (3, 224, 224)),
    "segformer": (t.SegformerForSemanticSegmentation, t.SegformerConfig(),
                  (3, 256, 256)),
    "whisper": (t.WhisperForAudioClassification, t.WhisperConfig(
        d_model=384, encoder_layers=4, encoder_attention_heads=6,
        encoder_ffn_dim=1536), (80, 3000)),
    "wav2vec2": (t.Wav2Vec2ForCTC, t.Wav2Vec2Config(
        hidden_size=384, num_hidden_layers=4, num_attention_heads=6,
        intermediate_size=1536, mask_time_prob=0.0), (32000,)),
}
kind, config, shape = models[sys.argv[1]]
with torch.device("cuda"):
    network = kind(config)
if sys.argv[2] == "train":
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
    for batch in (8, 8, 5, 8, 8, 3):
        with torch.autocast("cuda", dtype=torch.float16):
            out = network(torch.zeros(batch, *shape).cuda()).logits
        out.float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
else:
    network.eval()
    with torch.inference_mode():
        for batch in (1, 16, 4, 2, 8, 16, 1, 3, 12):
            network(torch.zeros(batch, *shape).cuda()).logits.cpu()
