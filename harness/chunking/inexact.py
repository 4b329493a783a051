"""Where a passage stands in a text that has most of it, but not word for word: by parts of it that are found in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_BLOCK = 16
_LEAST_SHARE = 0.5
_STATES = 8
_FIRST_PLACES = 8
_PLACES = 3
_NEAR = 4_096
_GAP, _GAP_SIGN, _LEFT_OUT, _LEFT_OUT_SIGN, _LATER = 4.0, 0.5, 4.0, 3.0, 0.01


class _Chain(NamedTuple):
    """Parts that were found one behind the other: what it costs, where the last one ends (-1: none yet), the first and last as (part, place), and how
    many signs were found."""

    cost: float
    far: int
    first: tuple[int, int]
    last: tuple[int, int]
    signs: int


def find_mostly(signs: str, lines: Sequence[str], begin: int, stop: int) -> tuple[int, int, int] | None:
    """The part of `signs[begin:stop]` that holds the passage of these lines with something dropped, put in or changed; None where less than half of
    its signs are there. Third comes how many of them are.

    The passage is divided at its lines and into blocks of up to 16 signs. Of all ways to find blocks in order, the cheapest counts that a beam of
    eight finds: a gap between blocks costs half its length and 4, a block left out three times its length and 4, and where the passage begins a
    hundredth of the way from `begin`. Both ends are then moved outwards as far as the signs agree; what was changed at the very ends of the passage
    is left out. Time: a few searches of up to 4,096 signs a block.
    """
    parts = [line[place : place + _BLOCK] for line in lines for place in range(0, len(line), _BLOCK)]
    nothing = _Chain(0.0, -1, (-1, -1), (-1, -1), 0)
    chains = [nothing]
    for number, part in enumerate(parts):
        best: dict[int, _Chain] = {}
        for chain in chains:
            for longer in _longer(signs, chain, number, part, begin, stop):
                if longer.far not in best or longer.cost < best[longer.far].cost:
                    best[longer.far] = longer
        unbegun = best.pop(-1)  # stays, or short parts would settle where the passage begins
        chains = [unbegun, *sorted(best.values())[:_STATES]]
    found = min(chains)
    if found.signs == 0 or found.signs < _LEAST_SHARE * sum(map(len, parts)):
        return None
    return (*_extended(signs, parts, found, begin, stop), found.signs)


def _longer(signs: str, chain: _Chain, number: int, part: str, begin: int, stop: int) -> Iterator[_Chain]:
    """The chain without this part, and with it at each of the next places."""
    yield chain._replace(cost=chain.cost + _LEFT_OUT + _LEFT_OUT_SIGN * len(part))
    new = chain.far < 0
    place = begin if new else chain.far
    last = stop if new else min(stop, chain.far + _NEAR + len(part))
    for _ in range(_FIRST_PLACES if new else _PLACES):
        hit = signs.find(part, place, last)
        if hit < 0:
            return
        gap = (hit - begin) * _LATER if new else _GAP + _GAP_SIGN * (hit - chain.far) if hit > chain.far else 0.0
        first = (number, hit) if new else chain.first
        yield _Chain(chain.cost + gap, hit + len(part), first, (number, hit), chain.signs + len(part))
        place = hit + 1


def _extended(signs: str, parts: Sequence[str], found: _Chain, begin: int, stop: int) -> tuple[int, int]:
    number, start = found.first
    for sign in reversed("".join(parts[:number])):
        if start <= begin or signs[start - 1] != sign:
            break
        start -= 1
    end = found.far
    for sign in "".join(parts[found.last[0] + 1 :]):
        if end >= stop or signs[end] != sign:
            break
        end += 1
    return start, end
