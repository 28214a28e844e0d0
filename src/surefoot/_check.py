"""Checks of arguments, and the wording of every refusal.

Every refusal has one wording: what must hold; what was got; and, where it helps, what to do.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar

from surefoot._arguments import in_python, named, write
from surefoot.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    import numpy as np

    Rng = np.random.Generator | int

T = TypeVar("T")


def refused(name: str, must: str, got: object, cure: str = "") -> ArgumentError:
    """The refusal of a value."""
    return ArgumentError(refusal(name, must, got, cure), argument=name, value=got, cure=cure)


def wrong(name: str | tuple[str, ...], must: str, value: object = None, cure: str = "") -> ArgumentError:
    """The refusal of an argument, or of two that do not fit, in a sentence of its own: it tells itself what was got."""
    first = name if isinstance(name, str) else name[0]
    return ArgumentError(
        f"{quoted(name)} must {must}{' ' + cure if cure else ''}", argument=first, value=value, cure=cure
    )


def wrong_kind(name: str | tuple[str, ...], must: str, value: object = None, cure: str = "") -> ArgumentTypeError:
    """The same for a value of the wrong type."""
    error = wrong(name, must, value, cure)
    return ArgumentTypeError(error.template, argument=error.argument, value=value, cure=cure)


def quoted(name: str | tuple[str, ...]) -> str:
    """How a sentence names an argument, or several: ``low``, or ``--low``."""
    return " and ".join(f"`{named(one)}`" for one in ((name,) if isinstance(name, str) else name))


def mistyped(name: str, must: str, got: object, cure: str = "") -> ArgumentTypeError:
    """The refusal of a value of the wrong type."""
    return ArgumentTypeError(refusal(name, must, got, cure), argument=name, value=got, cure=cure)


def refusal(name: str, must: str, got: object, cure: str = "") -> str:
    """The sentence of a refusal."""
    shown = got.item() if hasattr(got, "item") and getattr(got, "size", 0) == 1 else got
    return f"`{named(name)}` must {must}; got {shown!r}.{' ' + cure if cure else ''}"


def whole(value: Any, name: str, *, least: int = 0) -> int:
    """A whole number, at least `least`; a boolean is not a number here."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise mistyped(name, "be a whole number", value)
    if value < least:
        raise refused(name, f"be at least {least}", value)
    return int(value)


def real(value: Any, name: str) -> float:
    """A finite number; a boolean is not a number here."""
    number = _number(value, name)
    if not math.isfinite(number):
        raise refused(name, "be finite", value)
    return number


def fraction(value: Any, name: str, *, hint: str = "") -> float:
    """A number strictly between 0 and 1, never a percentage."""
    number = _number(value, name)
    if not 0.0 < number < 1.0:  # also refuses NaN
        if not hint and 1.0 < number < 100.0:
            hint = f"Write {number / 100:g} for {number:g}%."
        raise refused(name, "be strictly between 0 and 1", value, hint)
    return number


def confidence(value: Any) -> float:
    """A confidence strictly between 0 and 1, never a percentage."""
    return fraction(value, "confidence")


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise mistyped(name, "be a number", value)
    return float(value)


def rate(value: Any, name: str = "rate") -> float:
    """A probability, 0 and 1 included."""
    number = real(value, name)
    if not 0.0 <= number <= 1.0:
        hint = f"Write {number / 100:g} for {number:g}%." if 1.0 < number <= 100.0 else ""
        raise refused(name, "be between 0 and 1", value, hint)
    return number


def positive(value: Any, name: str) -> float:
    """A finite number above 0."""
    number = real(value, name)
    if number <= 0.0:
        raise refused(name, "be above 0", value)
    return number


def span(low: Any, high: Any) -> tuple[float, float]:
    """The two ends of a range of scores."""
    low, high = real(low, "low"), real(high, "high")
    if not low < high:
        raise wrong("low", f"be below {quoted('high')}; got {_ends(low, high)}.", low)
    if not math.isfinite(high - low):
        raise wrong("high", f"be finitely far from {quoted('low')}; got {_ends(low, high)}.", high)
    return low, high


def _ends(low: float, high: float) -> str:
    return in_python(f"low={low:g}, high={high:g}", f"{low:g} and {high:g}")


def margin(value: Any, span: float | None = None) -> float:
    """A margin: a gain that would not matter, 0 or more, and below the largest gain there can be, if that is told."""
    number = real(value, "margin")
    if number < 0.0:
        raise refused("margin", "be 0 or more", value)
    if span is not None and number >= span:  # every two policies would be "the same", and every gate would pass
        hint = (
            f"Write {number / 100:g} for {number:g} point{'' if number == 1.0 else 's'}."
            if span == 1.0 and number < 100.0
            else ""
        )
        raise refused("margin", f"be below {span:g}, the largest gain there can be", value, hint)
    return number


def instance(value: Any, name: str, kind: type[T], hint: str = "") -> T:
    """A value of the type asked for."""
    if not isinstance(value, kind):
        raise wrong_kind(name, f"be {article(kind.__name__)}; got {article(type(value).__name__)}.", value, hint)
    return value


def article(noun: str) -> str:
    """``a Tally``, ``an Interval``."""
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def choice(value: Any, name: str, table: Mapping[str, T]) -> T:
    """The entry of `table` that a word names."""
    if not isinstance(value, str) or value not in table:
        raise refused(name, f"be one of {', '.join(table)}", value)
    return table[value]


def filled(values: Sized, name: str, must: str) -> None:
    """Refuse what holds nothing."""
    if not len(values):
        raise wrong(name, f"{must}; got none.", values)


def generator(rng: Any) -> tuple[np.random.Generator, int | None]:
    """A random generator and, when a seed was given, the seed to keep in the result."""
    import numpy as np

    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        must = f"be {in_python('a numpy Generator or ')}a whole-number seed"
        cure = f"Chance enters this result: give a seed, such as {write('rng', 7)}, and it is kept with the result."
        raise mistyped("rng", must, rng, cure)
    seed = whole(rng, "rng")
    return np.random.default_rng(seed), seed
