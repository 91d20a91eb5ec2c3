"""The VRAM ledger: what each term costs on one accelerator, and what fits."""
