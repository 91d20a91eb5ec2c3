"""Runs that come as messages: many alike are read by column, others one by one, and the store sees no difference."""
