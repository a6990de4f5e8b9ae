# SPDX-License-Identifier: MIT
"""sentence-transformers: pairs compared with the others of their batch;
encoding."""
import tempfile
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer, SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments, losses, models)
from tokenizers import Tokenizer, models as tokens, pre_tokenizers
from transformers import (BertConfig, BertModel, PreTrainedTokenizerFast,
                          set_seed)

set_seed(0)
words = {f"w{i}": i for i in range(100)} | {
    "<pad>": 100, "<eos>": 101, "<cls>": 102, "<mask>": 103}
tokenizer = Tokenizer(tokens.WordLevel(words, unk_token="w0"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
with tempfile.TemporaryDirectory() as folder:
    BertModel(BertConfig(
        vocab_size=128, hidden_size=128, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=256)).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<cls>",
        sep_token="<eos>", mask_token="<mask>").save_pretrained(folder)
    model = SentenceTransformer(device="cuda", modules=[
        models.Transformer(folder, max_seq_length=32), models.Pooling(128)])
    SentenceTransformerTrainer(
        model=model, loss=losses.MultipleNegativesRankingLoss(model),
        train_dataset=Dataset.from_dict({
            "anchor": [f"w{i} w{i + 1} w3" for i in range(32)],
            "positive": [f"w{i} w{i + 2}" for i in range(32)]}),
        args=SentenceTransformerTrainingArguments(
            folder, max_steps=3, per_device_train_batch_size=8, report_to=[],
            disable_tqdm=True, save_strategy="no")).train()
    found = model.encode(["w1 w2", "w3 w4 w5"], convert_to_tensor=True)
    model.similarity(found, found)
