# SPDX-License-Identifier: MIT
"""sglang: offline generation with a tiny random Llama."""
import json
import os
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
# A library with its own CUDA runtime compiles the default kernels.
os.environ["SGLANG_FORCE_FUSED_OP_BACKEND"] = "torch"
import sglang

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "config.json"), "w") as config:
            json.dump({"architectures": ["LlamaForCausalLM"],
                       "model_type": "llama", "hidden_size": 256,
                       "intermediate_size": 688, "num_hidden_layers": 2,
                       "num_attention_heads": 4, "num_key_value_heads": 4,
                       "vocab_size": 1000, "max_position_embeddings": 256,
                       "torch_dtype": "bfloat16", "rms_norm_eps": 1e-5,
                       "hidden_act": "silu",
                       "tie_word_embeddings": False}, config)
        engine = sglang.Engine(
            model_path=folder, load_format="dummy", skip_tokenizer_init=True,
            disable_cuda_graph=True, attention_backend="triton",
            sampling_backend="pytorch", mem_fraction_static=0.1)
        out = engine.generate(
            input_ids=[[1, 2, 3]],
            sampling_params={"max_new_tokens": 8, "ignore_eos": True})
        print("tokens:", len(out[0]["output_ids"]))
        engine.shutdown()
