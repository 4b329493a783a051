"""A Ray cluster for the suites that want one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from launching_cases import Harbour


@pytest.fixture
def cluster(harbour: Harbour) -> Iterator[Any]:
    """Two nodes of one core each, which inherit what `harbour` set."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    yield made
    made.shutdown()
