"""The workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Final

from wholecall.errors import WholecallError

PATIENCE: Final = "10s"
"""How long a scheduler may take to answer."""


class ClusterError(WholecallError):
    """A cluster cannot be used.

    Attributes:
        address: Of its scheduler.
        what: What is wrong, in one line.
    """

    def __init__(self, address: str, what: str) -> None:
        self.address = address
        self.what = what
        super().__init__(f"the cluster at {address} cannot be used: {what}")


@contextmanager
def connected(address: str) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster, and how many tasks it runs at once.

    Args:
        address: Of the scheduler, such as `tcp://127.0.0.1:8786`.

    Errors:
        ClusterError: There is none, it has no workers, or `wholecall[cluster]` is not installed.
    """
    trouble = ""
    try:
        from distributed import Client

        client = Client(address, timeout=PATIENCE)
    except ImportError:
        trouble = "wholecall[cluster] is not installed"
    except (OSError, ValueError) as error:
        trouble = str(error).splitlines()[0]
    if trouble:
        raise ClusterError(address, trouble)
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise ClusterError(address, "it has no workers")
        yield client.get_executor(), threads
