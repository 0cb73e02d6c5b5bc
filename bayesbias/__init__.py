"""Social bias in word embeddings, measured with its uncertainty.

The names that a notebook uses are here; families of classes are one level down:
``bayesbias.metrics``, ``bayesbias.debias``, ``bayesbias.errors``. Everything is imported when it is
first used, so that ``import bayesbias`` and the command line's ``--help`` are quick.
"""

import lazy_loader as lazy

__version__ = "0.1.0"

# The names are listed in __init__.pyi, which type checkers and editors read as well.
_listed, __dir__, __all__ = lazy.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Import a name when it is first used; say where a name is that is one level down."""
    from importlib.util import find_spec

    if name in __all__ or name.startswith("_") or find_spec(f"{__name__}.{name}") is not None:
        return _listed(name)
    from importlib import import_module

    from bayesbias._core.wording import did_you_mean, same_name

    for room in __all__:
        if find_spec(f"{__name__}.{room}") is None:
            continue
        found = same_name(name, getattr(import_module(f"{__name__}.{room}"), "__all__", ()))
        if found is not None:
            where = f"{__name__}.{room}.{found}"
            raise AttributeError(f"{__name__} has no attribute {name!r}; it is {where}.")
    raise AttributeError(f"{__name__} has no attribute {name!r}.{did_you_mean(name, __all__)}")
