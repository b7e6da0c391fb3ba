"""What can happen to a server under load, and whether every request still gets the promised answer.

Each scenario makes something happen while clients ask over gRPC and REST without retries, and returns a row.
Version N answers N, so every answer tells where it came from; a scenario promises which versions each client
sees, one after the other.
"""

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.offset_models import half_plus
from benchmarks.serving_load import Load, Outcome
from benchmarks.serving_process import ServerProcess
from zoo.serving.client import Client, Retries
from zoo.serving.folders import find_versions
from zoo.serving.versions import prune, roll_back

__all__ = ["SCENARIOS", "Faulted", "Ground", "ground", "row"]

MODEL = "half"
CLIENTS = 8
PATIENCE = 120.0
PATIENT = Retries(most=10_000, first_pause=0.05, longest_pause=0.2)
REFUSED = "UNAVAILABLE"
"""What clients are told that may ask another server."""
FLAGS = ("--file_system_poll_wait_seconds=1", "--model_config_file_poll_wait_seconds=1")


class Faulted(NamedTuple):
    """What came of a scenario."""

    scenario: str
    requests: int
    failed: int
    """Requests without an answer that should have had one."""
    refused: int
    """Requests that a server which was told to stop did not accept; nothing else may refuse any."""
    versions: list[int]
    """Those that answered, in the order in which they took over."""
    verdict: str

    @property
    def kept(self) -> bool:
        """Whether the promise was kept."""
        return self.verdict == "kept"


class Ground(NamedTuple):
    """A server with a model whose versions change."""

    server: ServerProcess
    home: Path
    """The model's folder."""
    config: Path
    clients: int

    @property
    def newest(self) -> int:
        """The highest number on disk, whole or not."""
        return max(find_versions(self.home))

    def publish(self, number: int) -> Path:
        """Write a version that answers its number."""
        return half_plus(self.home / str(number), float(number))

    def spoil(self, number: int, hurt: Callable[[Path], None]) -> None:
        """Publish a version that was hurt before it got its place."""
        path = half_plus(self.home.parent / f"hurt-{number}", float(number))
        hurt(path)
        path.rename(self.home / str(number))

    def configure(self, policy: str = "") -> None:
        """Write the config file anew, whole or not at all."""
        beside = self.config.with_suffix(".new")
        beside.write_text(
            f"model_config_list {{ config {{ name: '{MODEL}' base_path: '{self.home}' "
            f"model_platform: 'tensorflow' {policy} }} }}\n",
            encoding="utf-8",
        )
        beside.replace(self.config)

    def wait_for_state(self, load: Load, number: int, state: str) -> None:
        """Wait until the server says so of a version, then for more answers."""
        with self.server.rest_client() as client:
            load.wait(
                lambda: any(s.version == number and s.state == state for s in client.status()),
                f"state {state} of version {number}",
            )
        load.wait_for_more()

    @contextmanager
    def load(self, **options: Any):
        """Clients under way, over gRPC and REST in turn."""
        with ExitStack() as stack:
            makers = [self.server.grpc_client, self.server.rest_client]
            clients = [stack.enter_context(makers[number % 2](**options)) for number in range(self.clients)]
            with Load([_asker(client) for client in clients]) as load:
                load.wait_for_more()
                yield load


@contextmanager
def ground(folder: Path, clients: int = CLIENTS):
    """A server of versions 1 and 2, of which the latest answers; its end stops it.

    Args:
        folder: an empty one.
        clients: how many ask in each scenario.
    """
    server = ServerProcess([f"--model_config_file={folder / 'models.config'}", *FLAGS], model=MODEL)
    prepared = Ground(server, folder / MODEL, folder / "models.config", clients)
    prepared.home.mkdir()
    for number in (1, 2):
        prepared.publish(number)
    prepared.configure()
    with server:
        yield prepared


def publish(at: Ground) -> Faulted:
    """A new version is published."""
    old, new = at.newest, at.newest + 1
    with at.load() as load:
        at.publish(new)
        load.wait_until_all_answer(_answer(new))
    return row(publish, load.outcome, [old, new])


def publish_broken(at: Ground) -> Faulted:
    """A version with a variable file that was cut off is published."""
    return _publish_spoilt(at, publish_broken, _cut_off)


def publish_without_variables(at: Ground) -> Faulted:
    """A version without `variables/` is published."""
    return _publish_spoilt(at, publish_without_variables, lambda path: shutil.rmtree(path / "variables"))


def go_back_and_forth(at: Ground) -> Faulted:
    """The newest version is withdrawn, and comes back."""
    new = at.newest
    with at.load() as load:
        old = max(v.number for v in roll_back(at.home) if not v.withdrawn)
        load.wait_until_all_answer(_answer(old))
        roll_back(at.home, to=new)
        load.wait_until_all_answer(_answer(new))
    return row(go_back_and_forth, load.outcome, [new, old, new])


def reload_config(at: Ground) -> Faulted:
    """The config file is changed to ask for an older version, and back."""
    new = at.newest
    old = sorted(find_versions(at.home))[-2]
    with at.load() as load:
        at.configure(f"model_version_policy {{ specific {{ versions: {old} }} }}")
        load.wait_until_all_answer(_answer(old))
        at.configure()
        load.wait_until_all_answer(_answer(new))
    return row(reload_config, load.outcome, [new, old, new])


def delete_served(at: Ground) -> Faulted:
    """The version that answers is deleted."""
    new = at.newest
    old = sorted(find_versions(at.home))[-2]
    with at.load() as load:
        shutil.rmtree(at.home / str(new))
        load.wait_until_all_answer(_answer(old))
    return row(delete_served, load.outcome, [new, old])


def delete_old(at: Ground) -> Faulted:
    """Versions that are not served are deleted."""
    new = at.newest
    with at.load() as load:
        prune(at.home, keep=1)
        at.publish(new + 1)  # the server has looked at the folder when it serves this one
        load.wait_until_all_answer(_answer(new + 1))
    return row(delete_old, load.outcome, [new, new + 1])


def kill_and_start_again(at: Ground) -> Faulted:
    """SIGKILL, and the server is started again; clients ask again where they get no answer."""
    with at.load(timeout=PATIENCE, retries=PATIENT) as load:
        at.server.kill()
        at.server.launch()
        load.wait_for_more(10)
    return row(kill_and_start_again, load.outcome, [at.newest])


def terminate(at: Ground) -> Faulted:
    """SIGTERM: what was accepted is answered, what comes then is refused."""
    with at.load() as load:
        at.server.terminate()
        status = at.server.wait()
    found = row(terminate, load.outcome, [at.newest], may_refuse=True)
    return found if status == 0 else found._replace(verdict=f"the server ended with {status}")


SCENARIOS: Sequence[Callable[[Ground], Faulted]] = (
    publish,
    publish_broken,
    publish_without_variables,
    go_back_and_forth,
    reload_config,
    delete_served,
    delete_old,
    kill_and_start_again,
    terminate,
)
"""In an order in which one ground serves all of them: the last ends it."""


def row(
    scenario: Callable[[Ground], Faulted], met: Outcome, promised: Sequence[int], *, may_refuse: bool = False
) -> Faulted:
    """What clients met beside what they were promised.

    Args:
        promised: the versions that each client must have seen, one after the other.
        may_refuse: whether the server may refuse requests, as one that stops does.
    """
    refused = [failure for failure in met.failures if may_refuse and failure.startswith(REFUSED)]
    failed = [failure for failure in met.failures if failure not in refused]
    answers = [_answer(number) for number in promised]
    others = [changes for changes in met.changes if changes != answers]
    verdict = "kept"
    if failed:
        verdict = f"failed: {failed[0]}"
    elif others:
        verdict = f"a client saw {', '.join(others[0])} in place of {', '.join(answers)}"
    seen = max(met.changes, key=len, default=[])
    name = (scenario.__doc__ or "").rstrip(".")
    return Faulted(
        name, met.requests, len(failed), len(refused), [int(float(answer)) for answer in seen], verdict
    )


def _publish_spoilt(
    at: Ground, scenario: Callable[[Ground], Faulted], hurt: Callable[[Path], None]
) -> Faulted:
    good, bad = at.newest, at.newest + 1
    with at.load() as load:
        at.spoil(bad, hurt)
        at.wait_for_state(load, bad, "END")
    shutil.rmtree(at.home / str(bad))
    return row(scenario, load.outcome, [good])


def _cut_off(path: Path) -> None:
    data = path / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:2])


def _asker(client: Client) -> Callable[[], str]:
    return lambda: str(client.predict({"x": [0.0]})["y"][0])


def _answer(number: int) -> str:
    return str(float(number))
