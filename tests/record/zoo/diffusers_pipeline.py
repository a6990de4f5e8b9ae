# SPDX-License-Identifier: MIT
"""diffusers: a whole pipeline: text encoder, UNet, scheduler and VAE."""
import torch
from diffusers import (AutoencoderKL, DDIMScheduler, StableDiffusionPipeline,
                       UNet2DConditionModel)
from transformers import CLIPTextConfig, CLIPTextModel

torch.manual_seed(0)
pipe = StableDiffusionPipeline(
    vae=AutoencoderKL(
        block_out_channels=(32, 64), latent_channels=4,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2),
    text_encoder=CLIPTextModel(CLIPTextConfig(
        hidden_size=32, intermediate_size=37, num_attention_heads=4,
        num_hidden_layers=2, vocab_size=1000)),
    tokenizer=None, unet=UNet2DConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=32,
        in_channels=4, out_channels=4, cross_attention_dim=32,
        attention_head_dim=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D")),
    scheduler=DDIMScheduler(), safety_checker=None, feature_extractor=None,
    requires_safety_checker=False).to("cuda")
pipe.set_progress_bar_config(disable=True)
words = pipe.text_encoder(torch.ones(1, 77, dtype=torch.long).cuda())[0]
pipe(prompt_embeds=words, negative_prompt_embeds=words,
     num_inference_steps=3, output_type="np")
