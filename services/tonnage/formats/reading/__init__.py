"""What readers share: opening bytes, sniffing, JSON and tables, typed access, statistics, grouping."""
