"""What installed packages add to this one, by entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Generic, TypeVar

from bayesbias._core.wording import quoted
from bayesbias.errors import SpecError, warn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Added = TypeVar("Added")


class Registry(MutableMapping[str, Added], Generic[Added]):
    """Things by their names: those of this package, and those that installed packages add.

    A package adds one by an entry point in its ``pyproject.toml``. Entry points are looked for when
    the registry is first read. One that cannot be used is left out, with a warning: a package that
    somebody installed for something else must not stop the work.

    Parameters
    ----------
    group : str
        The group of the entry points, such as ``bayesbias.metrics``.
    own : mapping
        What this package has.
    check : callable
        Takes what an entry point refers to; returns its name and what is kept under it, or raises
        a `SpecError`.
    """

    def __init__(
        self, group: str, own: Mapping[str, Added], check: Callable[[object], tuple[str, Added]]
    ) -> None:
        self._group = group
        self._entries = dict(own)
        self._check = check
        self._complete = False

    def __getitem__(self, name: str) -> Added:
        return self._all()[name]

    def __setitem__(self, name: str, added: Added) -> None:
        self._all()[name] = added

    def __delitem__(self, name: str) -> None:
        del self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def _all(self) -> dict[str, Added]:
        if not self._complete:
            from importlib.metadata import entry_points

            self._complete = True  # first: what a package adds may read the registry
            for entry in sorted(entry_points(group=self._group), key=lambda e: (e.name, e.value)):
                self._add(entry)
        return self._entries

    def _add(self, entry: EntryPoint) -> None:
        try:
            name, added = self._check(entry.load())
            if name in self._entries:
                raise SpecError(f"there is a {name!r} already; give it another name.")
        except Exception as err:
            package = "an installed package" if entry.dist is None else f"{entry.dist.name!r}"
            warn(
                f"{package} adds {quoted([entry.name])} to {self._group!r} ({entry.value}), which "
                f"cannot be used: {err}"
            )
            return
        self._entries[name] = added


def title_of(name: str, registry: Mapping[str, type]) -> str:
    """Return a metric or a method as people read it; what is not registered stays as it is.

    A subclass that has a name of its own does not inherit the title of another class.
    """
    for kind in registry[name].__mro__ if name in registry else ():
        if "name" in vars(kind):
            return str(vars(kind).get("title") or name.replace("_", " "))
    return name


def subclass_check(base: type[Added]) -> Callable[[object], tuple[str, type[Added]]]:
    """Return a check for classes that derive from `base` and have a `name`."""

    def check(added: object) -> tuple[str, type[Added]]:
        if not (isinstance(added, type) and issubclass(added, base)):
            raise SpecError(f"it is {added!r}; expected a class that derives from {base.__name__}.")
        name = getattr(added, "name", None)
        if not isinstance(name, str) or not name:
            raise SpecError(f"{added.__name__}.name is {name!r}; expected the name of the class.")
        return name, added

    return check
