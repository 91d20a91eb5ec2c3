"""Answers as people read them: messages in, tables and lines out; no number is made here."""
