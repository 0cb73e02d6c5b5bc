"""Social bias in word embeddings, measured with its uncertainty.

The names that a notebook uses are here; families of classes are one level down:
``bayesbias.metrics``, ``bayesbias.debias``, ``bayesbias.errors``. Everything is imported when it is
first used, so that ``import bayesbias`` and the command line's ``--help`` are quick.
"""

import lazy_loader as lazy

__version__ = "0.1.0"

# The names are listed in __init__.pyi, which type checkers and editors read as well.
__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
