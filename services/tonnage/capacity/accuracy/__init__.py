"""How well our own predictions meet what somebody measured."""
