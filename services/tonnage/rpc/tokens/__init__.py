"""Bearer tokens in a file: made, listed and revoked by a command, read again by servers when it changes."""
