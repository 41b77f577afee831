"""A campaign on a real Dask scheduler and two workers, on loopback."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wholecall.command import cli
from wholecall.fuzz import cluster as rooms
from wholecall.fuzz.campaign import Budget, Campaign, close_opened
from wholecall.fuzz.cluster import ClusterError, connected
from wholecall.fuzz.target import TargetName

HERE = Path(__file__).parent

pytestmark = pytest.mark.filterwarnings(
    "default::DeprecationWarning:distributed.*",
    "default::ResourceWarning",
    # Workers are threads here, beside a scheduler that uses `random`; Hypothesis lays that to what it draws.
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning",
)


def cluster(workers: int) -> Any:
    """A scheduler, and workers that are threads of this process."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=":0",
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a scheduler with two workers."""
    with cluster(2) as running:
        yield running.scheduler_address
    close_opened()


def test_both_workers_walk_and_what_they_met_and_found_is_merged(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    campaign = Campaign(TargetName("wrong:null_clears"))
    with connected(address) as (executor, workers):
        campaign.run(Budget(streams=300), executor, workers, lambda: None)

    assert workers == 2
    assert campaign.walked.streams == 300
    assert campaign.walked.coverage.rows["S01"] > 300, "of all walks together"
    assert {kind for kind, _ in campaign.findings} == {"corrupts"}


def test_the_command_walks_on_a_cluster(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["fuzz", "--cluster", address, "--examples", "20", "--json"])

    assert result.exit_code == 0
    assert json.loads(result.stdout)["streams"] == 20


def test_a_cluster_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "PATIENCE", "1s")
    with pytest.raises(ClusterError) as caught, connected("tcp://127.0.0.1:9"):
        pass

    assert str(caught.value).startswith("the cluster at tcp://127.0.0.1:9 cannot be used: ")
    assert caught.value.address == "tcp://127.0.0.1:9"


def test_a_cluster_without_workers_is_told() -> None:
    with (
        cluster(0) as running,
        pytest.raises(ClusterError, match="it has no workers"),
        connected(running.scheduler_address),
    ):
        pass


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)

    with pytest.raises(ClusterError, match=r"wholecall\[cluster\] is not installed"), connected("tcp://x:1"):
        pass
