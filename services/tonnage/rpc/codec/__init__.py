"""Pure pairs between the wire and the domain, used by both servers."""
