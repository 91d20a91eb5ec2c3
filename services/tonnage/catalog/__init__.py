"""Facts that ship with the product: models, accelerators, their sources; checked on load."""
