"""One spelling for engines, precisions and models."""

from __future__ import annotations

import re
from typing import Final

from tonnage.catalog.model_table import model
from tonnage.errors import AmbiguousName, UnknownName

_ENGINES: Final = {
    "vllm": "vllm",
    "sglang": "sglang",
    "sgl": "sglang",
    "tensorrtllm": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "trt": "tensorrt-llm",
    "llamacpp": "llama.cpp",
    "llamaserver": "llama.cpp",
    "ikllamacpp": "ik-llama.cpp",
    "generic": "generic",
    "tgi": "tgi",
    "textgenerationinference": "tgi",
    "lmdeploy": "lmdeploy",
    "ollama": "ollama",
}
_PRECISIONS: Final = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "fp16": "fp16",
    "float32": "fp32",
    "float": "fp32",
    "f32": "fp32",
    "fp32": "fp32",
    "fp8": "fp8",
    "float8": "fp8",
    "f8": "fp8",
    "fp8e4m3": "fp8",
    "float8e4m3fn": "fp8",
    "fp8e5m2": "fp8",
    "fp8dynamic": "fp8",
    "w8a8fp8": "fp8",
    "int8": "int8",
    "w8a8": "int8",
    "w8a8int8": "int8",
    "w8a16": "int8",
    "int4": "int4",
    "w4a16": "int4",
    "4bit": "int4",
    "awq": "awq-int4",
    "awqint4": "awq-int4",
    "awq4bit": "awq-int4",
    "awqmarlin": "awq-int4",
    "gptq": "gptq-int4",
    "gptqint4": "gptq-int4",
    "gptq4bit": "gptq-int4",
    "gptqmarlin": "gptq-int4",
    "autoround": "int4",
    "mxfp4": "mxfp4",
    "nvfp4": "nvfp4",
    "fp4": "nvfp4",
    "modeloptfp4": "nvfp4",
}
_HUB_CACHE: Final = re.compile(r"models--([^/]+?)--([^/]+)")


def _key(text: str) -> str:
    return re.sub(r"[\s_.\-]+", "", text.lower())


def normalize_engine(name: str) -> str:
    """Return the engine's one spelling; an unknown name comes back in kebab-case."""
    return _ENGINES.get(_key(name), re.sub(r"[\s_]+", "-", name.strip().lower()))


def normalize_precision(text: str) -> str:
    """Return one spelling of a weight or cache type; an unknown one comes back in lower case."""
    return _PRECISIONS.get(_key(text), text.strip().lower())


def normalize_model(text: str) -> str:
    """Return the catalog's spelling of a model where it is known, else the text without its path.

    Folders of a model hub's cache, absolute paths and a serving provider before the id are
    taken off; a name that means several models, or none we know, is left as it is.
    """
    stripped = text.strip()
    cached = _HUB_CACHE.search(stripped)
    if cached is not None:
        stripped = f"{cached.group(1)}/{cached.group(2)}"
    parts = [part for part in stripped.split("/") if part]
    tails = [stripped, "/".join(parts[-2:]), parts[-1] if parts else stripped]
    for tail in tails:
        known = _known(tail)
        if known is not None:
            return known
    if stripped.startswith(("/", "./", "~")) and parts:
        return parts[-1]
    return stripped


def _known(name: str) -> str | None:
    try:
        return model(name).name
    except (UnknownName, AmbiguousName):
        return None
