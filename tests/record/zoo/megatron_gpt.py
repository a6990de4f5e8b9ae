# SPDX-License-Identifier: MIT
"""Megatron-core: a small GPT, one rank."""
import torch
from megatron.core import parallel_state
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.tensor_parallel import model_parallel_cuda_manual_seed
from megatron.core.transformer import TransformerConfig

torch.cuda.set_device(0)
torch.distributed.init_process_group(
    "nccl", rank=0, world_size=1, store=torch.distributed.HashStore())
parallel_state.initialize_model_parallel()
model_parallel_cuda_manual_seed(0)
config = TransformerConfig(num_layers=2, hidden_size=128,
                           num_attention_heads=4, use_cpu_initialization=True)
model = GPTModel(config, get_gpt_layer_local_spec(), vocab_size=1000,
                 max_sequence_length=64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
ids = torch.randint(0, 1000, (2, 64)).cuda()
places = torch.arange(64).expand(2, 64).cuda()
mask = torch.ones(1, 1, 64, 64).cuda().triu(1).bool()
for _ in range(2):
    model(ids, places, mask, labels=ids).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
