"""The long-format distance table, its covariates, and what they explain."""

# Names that are not in __all__ are for other rooms.
from bayesbias.distances.covariate_gaps import decompose_gaps
from bayesbias.distances.covariates import CovariatePlan as CovariatePlan
from bayesbias.distances.covariates import at_equal as at_equal
from bayesbias.distances.covariates import covariates_in_words as covariates_in_words
from bayesbias.distances.schema import COLUMNS as COLUMNS
from bayesbias.distances.schema import Duplicates as Duplicates
from bayesbias.distances.schema import check_table
from bayesbias.distances.schema import covariate_values as covariate_values
from bayesbias.distances.table_builder import distance_table
from bayesbias.distances.table_files import load_table, read_table, write_table
from bayesbias.distances.table_files import writable_table as writable_table

__all__ = [
    "check_table",
    "decompose_gaps",
    "distance_table",
    "load_table",
    "read_table",
    "write_table",
]
