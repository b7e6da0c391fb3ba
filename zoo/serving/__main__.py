"""`python -m zoo.serving saved_models`: serve a folder of models from the command line."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from zoo.serving.engines import serve


def main(
    folder: Annotated[Path, typer.Argument(help="Holds NAME/VERSION/ folders with SavedModels.")],
    engine: Annotated[str, typer.Option(help="auto, tensorflow_model_server, docker or embedded.")] = "auto",
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    grpc_port: Annotated[int, typer.Option(help="0 picks a free one.")] = 8500,
    rest_port: Annotated[int, typer.Option(help="0 picks a free one.")] = 8501,
) -> None:
    """Serve the models below FOLDER until SIGINT or SIGTERM.

    Example: python -m zoo.serving saved_models --rest-port 8501
    """
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    try:
        running = serve(folder, engine=engine, host=host, grpc_port=grpc_port, rest_port=rest_port)
    except (ValueError, OSError, RuntimeError) as error:
        raise SystemExit(f"error: {error}") from error
    with running:
        print(f"{running.engine}, since {running.reason}", flush=True)
        print(f"REST {running.rest_url}  gRPC {running.grpc_target}", flush=True)
        running.wait()


if __name__ == "__main__":
    typer.run(main)
