"""One module a load tool; this list is the one place that names them all."""
