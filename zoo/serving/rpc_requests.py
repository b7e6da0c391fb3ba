"""Bytes that are no message of the protocol are the caller's fault, and answered as that.

By itself grpcio answers INTERNAL, which says that the server is at fault, and writes a traceback to the log.
"""

from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from zoo.serving import messages

__all__ = ["ParsingInterceptor"]


class ParsingInterceptor(grpc.ServerInterceptor):
    """Parses requests in place of grpcio, and answers INVALID_ARGUMENT where that fails."""

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler | None:
        """The handler of a call, which gets bytes and parses them; those that stream stay as they are."""
        handler = continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return handler
        parse, answer = handler.request_deserializer, handler.unary_unary

        def parse_and_answer(request: bytes, context: grpc.ServicerContext) -> Any:
            try:
                parsed = parse(request)
            except DecodeError as error:
                refusal = messages.NO_MESSAGE(problem=error)
                context.abort(grpc.StatusCode[refusal.code], refusal.message)
            return answer(parsed, context)

        return grpc.unary_unary_rpc_method_handler(
            parse_and_answer, response_serializer=handler.response_serializer
        )
