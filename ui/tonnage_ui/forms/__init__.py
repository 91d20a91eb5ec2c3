"""Widget values turned into requests; what a value may be is the server's to say."""
