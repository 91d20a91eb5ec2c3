"""One spelling for names."""

from __future__ import annotations

import pytest

from tonnage import catalog


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("vLLM", "vllm"),
        ("TensorRT-LLM", "tensorrt-llm"),
        ("trt_llm", "tensorrt-llm"),
        ("trtllm", "tensorrt-llm"),
        ("llama.cpp", "llama.cpp"),
        ("llama-cpp", "llama.cpp"),
        ("SGLang", "sglang"),
        ("My Engine", "my-engine"),
    ],
)
def test_engines_have_one_spelling(text: str, engine: str) -> None:
    assert catalog.normalize_engine(text) == engine


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("BF16", "bf16"),
        ("bfloat16", "bf16"),
        ("float16", "fp16"),
        ("W8A8", "int8"),
        ("awq", "awq-int4"),
        ("GPTQ-Int4", "gptq-int4"),
        ("fp8_e4m3", "fp8"),
        ("Q4_K_M", "q4_k_m"),
    ],
)
def test_precisions_have_one_spelling(text: str, precision: str) -> None:
    assert catalog.normalize_precision(text) == precision


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("/models/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("hosted_vllm/meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("/hub/models--Qwen--Qwen3-8B/snapshots/0a1b", "Qwen/Qwen3-8B"),
        ("openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        ("nobody/made-this", "nobody/made-this"),
        ("/mnt/weights/private-7b", "private-7b"),
    ],
)
def test_a_model_loses_its_path_and_nothing_else(text: str, model: str) -> None:
    assert catalog.normalize_model(text) == model
