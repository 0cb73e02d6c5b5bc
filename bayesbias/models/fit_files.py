"""Fits in netCDF files, which PyMC's and ArviZ's two generations both read."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.files import atomic, check_folder, missing_file_hint
from bayesbias.errors import DataError, NotFoundError, SpecError
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    from bayesbias.models.fitted_model import Fit

#: Of the file; raised when older versions could not read it.
SCHEMA_VERSION = 1
_GROUPS = ("posterior", "sample_stats", "table")
# What is recorded of a table in its attrs, as far as a saved fit keeps it.
_FACTS = ("study", "duplicates")
# How a heap of HDF5 begins, and an object in it: a number, six bytes of no interest, a size.
_HEAP = b"GCOL\x01\0\0\0"
_HEAP_OBJECT = Struct("<H6xQ")
# What zlib can make of a byte, and room for words.
_LARGEST_RATIO = 2_000


def writable_fit(path: str | PathLike[str]) -> Path:
    """Return the path of a fit to write, or refuse it before any work is done."""
    target = Path(path)
    if target.suffix.lower() != ".nc":
        raise SpecError(f"{target}: a fit is written to a .nc file.")
    check_folder(target)
    return target


def save_fit(fit: Fit, path: str | PathLike[str]) -> None:
    """Write a fit; nothing is left half-written."""
    target = writable_fit(path)
    attributes = {
        "bayesbias_schema": SCHEMA_VERSION,
        "model": json.dumps(fit.spec.to_dict()),
        "provenance": json.dumps(dict(fit.provenance)),
    }
    facts = {name: str(fit.table.attrs[name]) for name in _FACTS if fit.table.attrs.get(name)}
    table = xr.Dataset(attrs=facts)
    for name in fit.table.columns:
        column = fit.table[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            # As words, ten million rows would take minutes and gigabytes.
            table[str(name)] = ("row", column.cat.codes.to_numpy())
            table[str(name)].attrs["categories"] = json.dumps(list(column.cat.categories))
        elif column.dtype.kind in "fiub":
            table[str(name)] = ("row", column.to_numpy())
        else:
            table[str(name)] = ("row", column.astype("str").to_numpy(dtype=object))
    groups = {
        "/": xr.Dataset(attrs=attributes),
        "/posterior": fit.posterior,
        "/sample_stats": fit.sample_stats,
        "/table": table,
    }
    # Draws and distances are random in all their digits: packed, they would need 4% less room and
    # take many times as long.
    packed = {
        f"/{group}": {
            str(name): {"zlib": True, "complevel": 4}
            for name, values in groups[f"/{group}"].data_vars.items()
            if values.dtype.kind in "iu" and values.ndim
        }
        for group in _GROUPS
    }
    data = _netcdf(groups, packed)
    with atomic(target) as (temporary,):
        temporary.write_bytes(data)


def _netcdf(
    groups: Mapping[str, xr.Dataset], packed: Mapping[str, Mapping[str, Any]]
) -> memoryview:
    """Return the bytes of a netCDF file.

    HDF5 is not let near the disk: if that is full, it ends the process by a segmentation fault.
    """
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    buffer = io.BytesIO()
    with h5netcdf.File(buffer, "w") as file:
        for name, group in groups.items():
            store = H5NetCDFStore(file, group=name, mode="a")
            group.dump_to_store(store, encoding=packed.get(name))
    return buffer.getbuffer()


def load_fit(path: str | PathLike[str]) -> Fit:
    """Read a fit that was saved with `Fit.save`, by this or another version of PyMC and ArviZ.

    Parameters
    ----------
    path : path-like
        A ``.nc`` file.

    Returns
    -------
    Fit
        The fit.

    Raises
    ------
    NotFoundError
        If there is no such file.
    DataError
        If it is not such a file.

    Examples
    --------
    >>> import bayesbias as bb
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, "connection", draws=100)
    >>> with TemporaryDirectory() as folder:
    ...     fit.save(Path(folder) / "religion.nc")
    ...     again = bb.load_fit(Path(folder) / "religion.nc")
    >>> bool((again.posterior == fit.posterior).all()["co"])
    True
    """
    from bayesbias.models.fitted_model import Fit

    source = Path(path)
    if not source.is_file():
        raise NotFoundError(f"there is no file {str(source)!r}.{missing_file_hint(source)}")
    try:
        attributes, groups = _read_groups(source)
        fit = Fit(
            spec=ModelSpec.from_dict(json.loads(attributes["model"])),
            table=_frame(groups["table"]),
            posterior=_text_coordinates(groups["posterior"]),
            sample_stats=groups["sample_stats"],
            provenance=dict(json.loads(attributes["provenance"])),
        )
    except DataError:
        raise
    except Exception as err:  # HDF5, its readers and xarray raise errors of many kinds
        raise DataError(
            f"{source}: cannot be read as netCDF of a fit ({type(err).__name__}: {err})."
        ) from err
    _check_draws(source, fit)
    return fit


def _read_groups(source: Path) -> tuple[dict[str, Any], dict[str, xr.Dataset]]:
    """Return what the file says of itself, and the groups that a fit has; no others are opened."""
    import h5netcdf
    from xarray.backends import H5NetCDFStore

    _check_heaps(source)
    with h5netcdf.File(source, "r", decode_vlen_strings=True) as file:
        attributes = dict(file.attrs)
        if "bayesbias_schema" not in attributes or any(g not in file.groups for g in _GROUPS):
            raise DataError(f"{source}: a netCDF file, but not a fit saved by bayesbias.")
        if int(attributes["bayesbias_schema"]) > SCHEMA_VERSION:
            raise DataError(f"{source}: written by a newer bayesbias; upgrade to read it.")
        _check_datasets(source)
        groups = {name: xr.open_dataset(H5NetCDFStore(file, group=name)).load() for name in _GROUPS}
    return attributes, groups


def _check_heaps(source: Path) -> None:
    """Refuse a file whose heaps of texts are damaged: HDF5 may look for their end for ever.

    A heap is "GCOL", version 1, three zeros, its size; then objects of 16 bytes and what they hold,
    of which one with the number 0 is the free space up to the end.
    """
    with source.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        start = data.find(_HEAP)
        while start >= 0:
            end = start + int.from_bytes(data[start + 8 : start + 16], "little")
            place = start + 16
            while place + 16 <= end <= len(data):
                number, size = _HEAP_OBJECT.unpack_from(data, place)
                if number == 0 and size != end - place:
                    raise DataError(f"{source}: damaged; its heaps of texts have no end.")
                place += size if number == 0 else 16 + -(-size // 8) * 8
            start = data.find(_HEAP, start + 8)


def _check_datasets(source: Path) -> None:
    """Refuse a file that would have other files read, or more memory used than it can hold.

    HDF5 knows three ways to read other files. xarray reads coordinates when it opens a file, so
    sizes are checked before.
    """
    import h5py

    with h5py.File(source, "r") as file:
        for parent in ("/", *_GROUPS):
            size = 0
            for name in file[parent]:
                outside = not isinstance(file[parent].get(name, getlink=True), h5py.HardLink)
                if not outside and isinstance(item := file[parent][name], h5py.Dataset):
                    outside = item.is_virtual or bool(item.external)
                    size += item.nbytes
                if outside:
                    raise DataError(f"{source}: {name!r} is kept in another file; not a saved fit.")
            if size > _LARGEST_RATIO * source.stat().st_size:
                raise DataError(
                    f"{source}: {parent!r} says that it has {size:,} bytes, more than the file can "
                    "hold; it is damaged or malicious."
                )


def _check_draws(source: Path, fit: Fit) -> None:
    """Refuse a posterior that is not that of the model, or holds what no sampler draws."""
    for name, column in fit.table.items():
        # A word that is not among those of its column has become a gap.
        if isinstance(column.dtype, pd.CategoricalDtype) and column.isna().any():
            raise DataError(f"{source}: damaged; the column {name!r} of its table has a gap.")
    for parameter in fit.spec.parameters:
        if parameter.name not in fit.posterior:
            raise DataError(f"{source}: damaged; there are no draws of {parameter.name!r}.")
        draws = fit.posterior[parameter.name]
        if draws.dims[:2] != ("chain", "draw") or draws.dtype.kind != "f":
            raise DataError(f"{source}: damaged; {parameter.name!r} has no chains and draws.")
        if not np.isfinite(draws.to_numpy()).all():
            raise DataError(f"{source}: damaged; {parameter.name!r} is NaN or infinite.")


def _frame(table: xr.Dataset) -> pd.DataFrame:
    columns = {}
    for name, values in table.data_vars.items():
        if "categories" in values.attrs:
            levels = pd.Index(json.loads(values.attrs["categories"]), dtype="str")
            # The code -1 is a gap, which is refused later.
            columns[str(name)] = pd.Series(
                pd.Categorical.from_codes(values.to_numpy(), dtype=pd.CategoricalDtype(levels))
            )
        elif values.dtype.kind in "fiub":
            columns[str(name)] = pd.Series(values.to_numpy())
        else:
            columns[str(name)] = pd.Series(values.to_numpy().astype(object), dtype="str")
    frame = pd.DataFrame(columns)
    # Older files have an empty text for what is not known.
    frame.attrs = {name: str(table.attrs[name]) for name in _FACTS if table.attrs.get(name)}
    return frame


def _text_coordinates(data: xr.Dataset) -> xr.Dataset:
    """Give words the type they had: netCDF keeps them as objects."""
    text = {
        name: data[name].to_numpy().astype(np.str_)
        for name in data.coords
        if data[name].dtype.kind == "O"
    }
    return data.assign_coords(text)
