"""How far a measured curve may be from what the planned servers will show."""
