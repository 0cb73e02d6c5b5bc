"""Independent computations: one after the other, in processes, or on the machines of a cluster."""

# Names that are not in __all__ are for other rooms.
from bayesbias.parallel.cluster_connection import Cluster, cluster
from bayesbias.parallel.cluster_connection import current_cluster as current_cluster
from bayesbias.parallel.task_stream import in_parallel as in_parallel
from bayesbias.parallel.task_stream import number_at_once as number_at_once

__all__ = ["Cluster", "cluster"]
