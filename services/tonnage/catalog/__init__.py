"""Facts that ship with the product: models, accelerators, and one spelling for names."""

from tonnage.catalog.accelerator_table import accelerator, accelerators
from tonnage.catalog.config_json import shape_from_config
from tonnage.catalog.log_table import log_figures
from tonnage.catalog.model_table import model, models
from tonnage.catalog.names import normalize_engine, normalize_model, normalize_precision
from tonnage.catalog.tensors import inventory

__all__ = [
    "accelerator",
    "accelerators",
    "inventory",
    "log_figures",
    "model",
    "models",
    "normalize_engine",
    "normalize_model",
    "normalize_precision",
    "shape_from_config",
]
