"""The configuration widgets as a selector: a field left empty matches whatever was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tonnage_ui.forms.values import Values, count_of, put, text_of

if TYPE_CHECKING:
    from tonnage_ui.messages import pb

TEXT_FIELDS: Final = (
    "accelerator",
    "engine",
    "engine_version",
    "weight_precision",
    "kv_cache_type",
    "speculative_decoding",
    "serving_mode",
)
COUNT_FIELDS: Final = (
    "accelerators_per_replica",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "data_parallel",
    "max_model_len",
    "max_num_seqs",
    "max_num_batched_tokens",
)


def fill_configuration(configuration: pb.Configuration, values: Values) -> None:
    """Fill the fields somebody stated; a fingerprint alone names one configuration."""
    for field in (*TEXT_FIELDS, "fingerprint"):
        put(configuration, field, text_of(values, field))
    for field in COUNT_FIELDS:
        put(configuration, field, count_of(values, field))
