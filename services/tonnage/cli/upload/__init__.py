"""Finding files, reading what is said beside them, and sending them."""
