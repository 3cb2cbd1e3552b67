"""Answers as pandas has them: an integer stays an integer, also where others are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from ._fnstore import Table


def frame(answers: Table) -> pandas.DataFrame:
    """A data frame of answers, by way of pyarrow."""
    import pandas
    import pyarrow

    # By themselves, pyarrow and pandas write a column of integers with a gap as floats.
    kinds = {getattr(pyarrow, dtype.name.lower())(): dtype for dtype in (
        pandas.Int8Dtype(), pandas.Int16Dtype(), pandas.Int32Dtype(), pandas.Int64Dtype(),
        pandas.UInt8Dtype(), pandas.UInt16Dtype(), pandas.UInt32Dtype(), pandas.UInt64Dtype(),
    )}  # fmt: skip
    # Inside of lists, where pandas has no types, gaps are None beside Python's integers.
    made: pandas.DataFrame = pyarrow.table(answers).to_pandas(types_mapper=kinds.get, integer_object_nulls=True)
    return made
