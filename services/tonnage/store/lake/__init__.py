"""The back end on DuckLake: a catalog, Parquet files, and what makes both durable."""
