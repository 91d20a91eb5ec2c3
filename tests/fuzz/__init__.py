"""Inputs nobody wrote, through every reader."""
