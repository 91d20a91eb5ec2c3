"""One module a command; each is loaded when its command is run."""
