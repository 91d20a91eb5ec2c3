"""Exact arithmetic: decimals as people wrote them, so that no server comes from rounding noise."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from tonnage.errors import InvalidInput

Amount = float | int | Fraction


def exact(value: Amount) -> Fraction:
    """Return the fraction of the shortest decimal that reads back as ``value``.

    7 x 1.2 / 1.2 is 7 this way, while binary floating point says 7.000000000000001.
    ``value`` must be finite.
    """
    if isinstance(value, Fraction):
        return value
    number = float(value)
    if number.is_integer():
        return Fraction(int(number))
    return Fraction(*Decimal(repr(number)).as_integer_ratio())


def as_float(path: str, value: Fraction) -> float:
    """Return the nearest double; raise ``InvalidInput`` naming ``path`` when none holds it."""
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidInput.field(path, None, "is too large to be meant", "give a smaller figure") from error


def growth(value: Fraction) -> float | None:
    """Return a room to grow as the nearest double, None where it is larger than any."""
    try:
        return float(value)
    except OverflowError:
        return None


def quotient(numerator: Amount, denominator: Amount) -> float:
    """Return a quotient of decimals rounded once: 0.6 / 0.2 is 3."""
    return float(exact(numerator) / exact(denominator))


def product(*factors: Amount) -> Fraction:
    """Return the exact product of decimals."""
    result = Fraction(1)
    for factor in factors:
        result *= exact(factor)
    return result


def ceiling(value: Fraction) -> int:
    """Return the smallest whole number not below ``value``."""
    return -(-value.numerator // value.denominator)


def rounded(value: float) -> float:
    """Return a figure to six digits, so that another machine's last bit changes nothing."""
    return float(f"{value:.6g}")


def shown(value: Amount) -> str:
    """Return a number as an equation shows it: six digits, more where six would hide a remainder."""
    try:
        number = float(value)
    except OverflowError:
        fraction = exact(value)
        return f"{Decimal(fraction.numerator) / Decimal(fraction.denominator):.6g}"
    short = f"{number:.6g}"
    whole = number.is_integer() if not isinstance(value, Fraction) else value.denominator == 1
    if not whole and float(short).is_integer() and "e" not in short:
        return f"{number:.12g}"
    return short
