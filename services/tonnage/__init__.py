"""How many GPU servers an inference workload needs, from measured runs, and how sure that is."""
