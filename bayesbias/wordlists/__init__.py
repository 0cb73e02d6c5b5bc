"""Word sets, queries and studies, and the published lists."""

import lazy_loader as lazy

# The names are listed in __init__.pyi. They are imported when they are first used, since
# classifiers and tables of checks need scikit-learn and pandas, and lists of words do not.
__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
