"""Groups of flags that several commands share, each a dataclass that makes messages."""
