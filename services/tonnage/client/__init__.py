"""Typed clients of both servers; imports grpc and the stubs only."""
