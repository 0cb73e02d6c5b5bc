"""The long-format distance table, its covariates, and what they explain."""

from bayesbias.distances.covariate_gaps import decompose_gaps
from bayesbias.distances.table import check_table, distance_table, read_table, write_table

__all__ = ["check_table", "decompose_gaps", "distance_table", "read_table", "write_table"]
