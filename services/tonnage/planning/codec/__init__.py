"""Pure pairs between the wire and the domain, one module a family of messages."""
