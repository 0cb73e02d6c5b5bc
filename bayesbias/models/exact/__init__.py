"""The exact engine; DESIGN.md explains its mathematics."""

# All names are for other rooms.
from bayesbias.models.exact.compiled_model import compile_model as compile_model
from bayesbias.models.exact.compiled_model import parent_index as parent_index
from bayesbias.models.exact.gaussian_block import Block as Block
from bayesbias.models.exact.hmc import Chains as Chains
