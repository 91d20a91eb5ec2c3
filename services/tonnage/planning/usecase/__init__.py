"""What the planning server does once a request is decoded; no stubs and no gRPC here."""
