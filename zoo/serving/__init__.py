"""Serving: the embedded server, the choice of engine, and clients for REST and gRPC.

Nothing is imported here, so that `zoo.serving.client` works where neither TensorFlow nor gRPC is installed.
"""

__all__: list[str] = []
