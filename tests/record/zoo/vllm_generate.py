# SPDX-License-Identifier: MIT
"""vLLM: offline generation with a tiny random Llama."""
import json
import os
import tempfile

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ["HF_HUB_OFFLINE"] = "1"
from vllm import LLM, SamplingParams

with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "config.json"), "w") as config:
        json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
                   "hidden_size": 256, "intermediate_size": 688,
                   "num_hidden_layers": 2, "num_attention_heads": 4,
                   "num_key_value_heads": 4, "vocab_size": 1000,
                   "max_position_embeddings": 256, "torch_dtype": "bfloat16",
                   "rms_norm_eps": 1e-5, "hidden_act": "silu",
                   "tie_word_embeddings": False}, config)
    engine = LLM(folder, load_format="dummy", skip_tokenizer_init=True,
                 enforce_eager=True, max_model_len=256,
                 gpu_memory_utilization=0.1)
    out = engine.generate({"prompt_token_ids": [1, 2, 3]}, SamplingParams(
        max_tokens=8, detokenize=False, ignore_eos=True))
    print("tokens:", len(out[0].outputs[0].token_ids))
