"""The exact engine; DESIGN.md explains its mathematics."""

from bayesbias.models.exact.compiled_model import compile_model, parent_index
from bayesbias.models.exact.gaussian_block import Block
from bayesbias.models.exact.hmc import Chains

__all__ = ["Block", "Chains", "compile_model", "parent_index"]
