"""Values of the canonical row from the cells of a file.

Files and polars frames are parsed by polars, which can find the row of a bad cell; frames of other engines are
parsed by narwhals expressions on their own engine. Both give the same columns: keys as text, numbers as numbers,
`success` and `valid` as 1 or 0.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._arguments import write
from surefoot.errors import DataError
from surefoot.table.columns import NUMBERS, TEXT, WHOLE, YES_OR_NO

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

DECIMALS = (".", *(f".{'0' * digits}" for digits in range(1, 10)), f".{'0' * 18}e+00")
"""What printf, numpy.savetxt and spreadsheets write after a whole number; comparing words is faster than parsing."""

YES = (
    *("1", "true", "success", "s", "yes", "y", "t", "succeeded", "pass", "passed", "correct", "c", "ok"),
    *(f"1{end}" for end in DECIMALS),
)
NO = (
    *("0", "false", "failure", "no", "n", "f", "failed", "fail", "incorrect", "i"),
    *(f"0{end}" for end in DECIMALS),
)
WORDS = frozenset(word for word in (*YES, *NO) if word[0].isalpha())
"""Those that no number is written as."""
MUST = {
    "success": "be one of 1, true, success, 0, false, failure",
    "valid": "be one of 1, true, yes, 0, false, no",
    **dict.fromkeys(NUMBERS, "be a finite number"),
    **dict.fromkeys(WHOLE, "be a whole number"),
    **dict.fromkeys(TEXT, "be text or a number"),
}


def reading(word: str) -> float | None:
    """What a written outcome says: 1 for a yes, 0 for a no, or its number; none where it is neither."""
    lower = word.strip().casefold()
    if lower in YES or lower in NO:
        return float(lower in YES)
    try:
        return float(lower)
    except ValueError:
        return None


class Cell(NamedTuple):
    """A column's parsed value and whether the cell it came from is bad; expressions of either library."""

    value: Any
    bad: Any


def by_polars(column: str, name: str, dtype: pl.DataType, source: str, *, percent: float | None = None) -> Cell:
    """The canonical column parsed by polars from the column called `name`; a cell such as 85% is 85 / `percent`."""
    import polars as pl

    raw = pl.col(name)
    never = pl.lit(value=False)
    text = dtype in (pl.String, pl.Categorical, pl.Enum)
    if text or dtype == pl.Null:
        words = raw.cast(pl.String).str.strip_chars()
        filled = words.str.len_bytes() > 0
        if column in TEXT:
            return Cell(raw.cast(pl.String).map_batches(_tidy, return_dtype=pl.String, is_elementwise=True), never)
        if column in YES_OR_NO:
            lower = words.str.to_lowercase()
            value: pl.Expr = (
                pl.when(lower.is_in(YES)).then(pl.lit(1, pl.Int8)).when(lower.is_in(NO)).then(pl.lit(0, pl.Int8))
            )
        else:
            number = words.cast(pl.Float64, strict=False)
            if percent is not None:
                share = words.str.strip_suffix("%").str.strip_chars_end().cast(pl.Float64, strict=False)
                number = pl.when(words.str.ends_with("%")).then(share / percent).otherwise(number)
            if column == "human":
                lower = words.str.to_lowercase()
                number = pl.when(lower.is_in(YES)).then(1.0).when(lower.is_in(NO)).then(0.0).otherwise(number)
            value = _whole(number) if column in WHOLE else pl.when(number.is_finite()).then(number)
        value = _once_each(name, value, pl.Int8 if column in YES_OR_NO else pl.Int64 if column in WHOLE else pl.Float64)
        return Cell(value, filled & value.is_null())
    if column in TEXT:
        if dtype.is_float():
            whole = raw.is_finite() & (raw == raw.round()) & (raw.abs() < 2**53)
            short = raw.cast(pl.Int64, strict=False).cast(pl.String)
            return Cell(pl.when(whole).then(short).otherwise(raw.cast(pl.String)), raw.is_nan().fill_null(value=False))
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise wrong_type(column, name, dtype, source)
        return Cell(raw.cast(pl.String), never)
    if not (dtype.is_numeric() or dtype == pl.Boolean):
        raise wrong_type(column, name, dtype, source)
    number = raw.cast(pl.Float64)
    if column in YES_OR_NO:
        value = pl.when(number == 1.0).then(pl.lit(1, pl.Int8)).when(number == 0.0).then(pl.lit(0, pl.Int8))
    elif column in WHOLE:
        value = raw.cast(pl.Int64, strict=False) if dtype.is_integer() else _whole(number)
    else:
        value = pl.when(number.is_finite()).then(number)
    return Cell(value, raw.is_not_null() & value.is_null())


def _once_each(name: str, value: pl.Expr, kind: Any) -> pl.Expr:
    """What an expression makes of a column of text, worked out once for each different cell where they recur."""
    import polars as pl

    def of(cells: pl.Series) -> pl.Series:
        levels = cells.drop_nulls().unique()
        if cells.dtype != pl.String or 2 * len(levels) > len(cells):
            return cells.to_frame(name).select(value).to_series()
        read = levels.to_frame(name).select(value).to_series()
        return read.gather(cells.cast(pl.Enum(levels)).to_physical())

    return pl.col(name).map_batches(of, return_dtype=kind, is_elementwise=True)


def _tidy(cells: pl.Series) -> pl.Series:
    """Labels without spaces around them, of one line each, and none for a blank; mostly as they are."""
    import polars as pl

    levels = cells.unique()
    looked = (levels if 2 * len(levels) <= len(cells) else cells).alias("cells")
    words = pl.col("cells").str.strip_chars()
    odd = (
        (words.str.len_bytes() != pl.col("cells").str.len_bytes())
        | words.str.contains("\n", literal=True)
        | (words == "")
    )
    if not looked.to_frame().select(odd.any()).item():
        return cells
    tidied = pl.when(words != "").then(words.str.replace_all("\n", LINE_END, literal=True))
    return cells.to_frame("cells").select(tidied).to_series()


def by_narwhals(column: str, name: str, dtype: nw.dtypes.DType, source: str) -> Cell:
    """The canonical column parsed by narwhals, on the engine that holds the data."""
    import narwhals as nw

    raw = nw.col(name)
    null, never = raw.is_null(), raw.is_null() & ~raw.is_null()
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        if column in WHOLE or column in NUMBERS:
            raise wrong_type(column, name, dtype, source)
        words = raw.cast(nw.String).str.strip_chars()
        filled = ~null & (words != "")
        if column in TEXT:
            return Cell(nw.when(filled).then(words.str.replace_all("\n", LINE_END, literal=True)), never)
        lower = words.str.to_lowercase()
        yes, no = filled & lower.is_in(YES), filled & lower.is_in(NO)
        return Cell(nw.when(yes).then(nw.lit(1.0)).otherwise(nw.when(no).then(nw.lit(0.0))), filled & ~yes & ~no)
    if column in TEXT:
        if dtype.is_float():
            known = raw.fill_null(0.0)
            whole = ~null & (known == known.round())
            # An engine may compute both branches for every row, so the branch for whole numbers must not meet others.
            short = nw.when(whole).then(known).otherwise(nw.lit(0.0)).cast(nw.Int64).cast(nw.String)
            return Cell(nw.when(whole).then(short).otherwise(nw.when(~null).then(raw.cast(nw.String))), never)
        if dtype.is_nested() or dtype == nw.Binary:
            raise wrong_type(column, name, dtype, source)
        return Cell(nw.when(~null).then(raw.cast(nw.String)), never)
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise wrong_type(column, name, dtype, source)
    number = raw.cast(nw.Float64)
    if column in YES_OR_NO:
        return Cell(number, ~null & (number != 1.0) & (number != 0.0))
    finite = number.is_finite()
    return Cell(number, ~null & (~finite | (number != number.round()) if column in WHOLE else ~finite))


def wrong_type(column: str, name: str, dtype: object, source: str) -> DataError:
    """The refusal of a whole column that cannot hold what it should."""
    return DataError(
        f"{called(column, name)} must {MUST[column].replace('be ', 'hold ', 1)} in every row; "
        f"got a column of type {dtype}. Convert the column first.",
        source=source,
    )


def wrong_cell(column: str, name: str, value: object, *, source: str, row: int | None, cure: str = "") -> DataError:
    """The refusal of one cell, with its place and what to do."""
    said = f"{called(column, name)} must {MUST[column]}; got {shown(value)}."
    return DataError(said, source=source, row=row, cure=cure or _cure(column, name, value))


def outside(low: float, high: float, which: str) -> str:
    """The refusal of a score that the stated range does not allow."""
    return f"`score` must lie in the stated range [{low:g}, {high:g}]; {which}. {state_range()}"


def state_range() -> str:
    """What to do about a score outside its range."""
    ends = f"{write('low')} and {write('high')}"
    return f"State the range that the scoring allows, {ends}; do not take it from the scores."


def called(column: str, name: str) -> str:
    """A canonical column as messages name it, with the file's own name when that differs."""
    return f"`{column}`" if column == name else f"`{column}` (column {name!r})"


def _whole(number: pl.Expr) -> pl.Expr:
    import polars as pl

    fits = (number == number.round()) & (number.abs() < 2**53)
    return pl.when(fits).then(number).cast(pl.Int64, strict=False)


def shown(value: object) -> str:
    """A cell as messages show it: of a long one both ends, for the fault may be at either."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:36]}...{text[-40:]}"


LINE_END = r"\n"
"""How a label shows that it has several lines: printed as it is, it could add lines of its own to an answer."""
QUOTES = "'`\"\u2018\u2019\u201c\u201d\u00b4"


def _stray(text: str) -> str:
    """The quotation mark that makes a cell unreadable: without it, it is a number or an outcome; else nothing."""
    bare = text.strip(QUOTES)
    if bare == text:
        return ""
    try:
        float(bare.removesuffix("%"))
    except ValueError:
        if bare not in (*YES, *NO):
            return ""
    return text[-1] if text[-1] in QUOTES else text[0]


def _cure(column: str, name: str, value: object) -> str:
    text = str(value).strip().casefold()
    if text in ("nan", "na", "n/a", "none", "null", "-", "?"):
        return "Leave the cell empty when there was no outcome."
    if column in NUMBERS and re.fullmatch(r"-?\d+,\d+", text):
        return f"Write a decimal point: {text.replace(',', '.')}."
    if column in (*NUMBERS, *WHOLE, *YES_OR_NO) and (stray := _stray(text)):
        return f"Remove the extra {stray!r}."
    if column == "score" and text in (*YES, *NO):
        return f"These are successes and failures: say {write('columns', {'success': name})}."
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        return "Leave the cell empty when nobody knows." if text.endswith("?") else ""
    if column == "success":
        said, low, high = write("columns", {"score": name}), write("low"), write("high")
        return f"A partial success is a score: say {said}, with {low} and {high} if not 0 to 1."
    if column == "score" and text.endswith("%"):
        return (
            "Percents are read where scores run from 0 to 1 or from 0 to 100: leave out "
            f"{write('low')} and {write('high')}, or say those."
        )
    if column in NUMBERS and text.endswith("%"):
        return f"Write {number / 100:g} for {number:g}%."
    return ""
