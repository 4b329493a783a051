"""Where code may be cut, from its syntax tree: regions that never share a chunk, and boundaries inside them, coarse to fine."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from tree_sitter import Node

from harness.chunking.code_items import Item, Scale, defines, holders, items_of, open_up
from harness.chunking.code_syntax import ANONYMOUS, CLASSES, DECORATORS, IMPORTS

_DEPTH = 24
"""Levels of nested statements that are told apart; deeper ones count as the last."""

_SCOPES = 8
"""Nested definitions that can give a header."""

_LINE = 400
"""Bytes before a function without a name that are searched for the start of its line."""


class Scope(NamedTuple):
    """A definition around a region: number of the scope around it (-1: none), bytes of its signature, depth from 1."""

    parent: int
    start: int
    end: int
    depth: int


class Region(NamedTuple):
    """A stretch that shares no chunk with another. `scope`: index into `Plan.scopes`, -1 for none. `joins`: but for the last chunk of the region
    before, where this one fits in as a whole."""

    start: int
    scope: int
    joins: bool = False


class Large(NamedTuple):
    """An element that doesn't fit: where its regions begin, and the start of a crumb behind it that may join it (-1: none)."""

    item: Item
    start: int
    tail: int = -1


class Plan:
    """All positions are bytes. `regions` in order; `scopes`; `levels`: boundaries, coarse to fine: behind imports, before elements, before statements
    by depth.

    A list that doesn't fit into one chunk is made of regions: each element that doesn't fit, and each run of elements between two such. A run of less
    than a quarter of the budget joins the element behind it; at the end of a list, where it defines nothing, the function before it. A class, or
    anything with a large definition inside, is again a list; any other large element is one region with boundaries at its statements.
    """

    def __init__(self, root: Node, scale: Scale) -> None:
        self.scale = scale
        self.scopes: list[Scope] = []
        self._regions: list[Region] = []
        self._behind_imports: list[int] = []
        self._elements: list[int] = []
        self._statements: list[list[int]] = []
        self._holders = holders(root, scale)
        self._imports_end = -1  # behind the last imports of the run at hand
        waiting = [(items_of(root, scale), 0, -1)]
        while waiting:
            items, begin, scope = waiting.pop()
            for large in self._runs(items, begin, scope):
                if inner := self._expand(*large, scope):
                    waiting.append(inner)

    @property
    def regions(self) -> list[Region]:
        """The first begins at 0."""
        return sorted(self._regions)

    @property
    def levels(self) -> list[list[int]]:
        """Those of each level in order."""
        return [sorted(level) for level in (self._behind_imports, self._elements, *self._statements)]

    def _runs(self, items: list[Item], begin: int, scope: int) -> list[Large]:
        """Makes regions of the runs of small items; gives the large ones."""
        large = list[Large]()
        run, imports, mark, self._imports_end = begin, -1, len(self._elements), -1  # run -1: the next item opens one
        for item in items:
            if not self.scale.fits(item.start, item.end):
                large.append(Large(item, self._close(run, mark, item.start, scope)))
                run = imports = -1
                continue
            if run < 0:
                run, mark, self._imports_end = item.start, len(self._elements), -1
            elif item.start > run:
                self._elements.append(item.start)
            imports = self._after_imports(item, imports)
        if run >= 0 and large and self._is_tail(items, run):
            large[-1] = large[-1]._replace(tail=run)
        elif run >= 0:
            self._regions.append(Region(run, scope))
        return large

    def _close(self, run: int, mark: int, start: int, scope: int) -> int:
        """Where the large element begins that ends a run: before the last items of the run, or those behind its imports, where they are a crumb."""
        if run < 0:
            return start
        last = max(run, self._imports_end)
        crumb = self.scale.units(last, start) < self.scale.crumb
        if crumb:
            del self._elements[bisect_left(self._elements, last, mark) :]
        if last > run or not crumb:
            self._regions.append(Region(run, scope))
        return last if crumb else start

    def _is_tail(self, items: list[Item], run: int) -> bool:
        """Whether the items from `run` on are a crumb in which nothing is defined (`module.exports = open`)."""
        if self.scale.units(run, items[-1].end) >= self.scale.crumb:
            return False
        return not any(defines(item.node) for item in items if item.start >= run and item.node is not None)

    def _after_imports(self, item: Item, imports: int) -> int:
        """Where the run of imports begins that `item` goes on with, -1 for none. Behind a run that isn't a crumb lies a coarse boundary."""
        if item.node is not None and item.node.type in IMPORTS:
            return item.start if imports < 0 else imports
        if imports >= 0 and self.scale.units(imports, item.start) >= self.scale.crumb:
            self._behind_imports.append(item.start)
            self._imports_end = item.start
        return -1

    def _expand(self, item: Item, start: int, tail: int, scope: int) -> tuple[list[Item], int, int] | None:
        """The list inside a large item, or None where it became a region."""
        items, definition, within = list[Item](), None, scope
        if item.node is not None:
            items, definition = open_up(item.node, self.scale)
        if definition is not None and item.node is not None:
            within = self._scope(item.node, definition, items, scope)
        is_class = definition is not None and definition.type in CLASSES
        holder = definition or item.node
        is_list = bool(items) and holder is not None and (is_class or holder.id in self._holders)
        if tail >= 0:
            self._regions.append(Region(tail, scope, joins=not is_list))
        if is_list:
            return items, start, within
        self._regions.append(Region(start, within))
        if item.node is not None:
            self._cut_statements(item.node, item.start)
        return None

    def _scope(self, node: Node, definition: Node, items: list[Item], parent: int) -> int:
        depth = self.scopes[parent].depth + 1 if parent >= 0 else 1
        if depth > _SCOPES:
            return parent
        body = definition.child_by_field_name("body")
        end = body.start_byte if body is not None else items[0].start if items else definition.end_byte
        self.scopes.append(Scope(parent, self._signature(node, definition), end, depth))
        return len(self.scopes) - 1

    def _signature(self, node: Node, definition: Node) -> int:
        """Where the signature begins: behind decorators; for a function without a name at the start of its line (`describe("x", () =>`)."""
        start = node.start_byte
        for outer in (node, definition):
            if outer.start_byte <= start:
                start = _behind_decorators(outer, start)
        if node.type not in ANONYMOUS:
            return start
        window = max(0, start - _LINE)
        line = self.scale.measured.source.rfind(b"\n", window, start) + 1
        return line if line or not window else start

    def _cut_statements(self, node: Node, start: int) -> None:
        """Boundaries inside a region, for all nodes in it that don't fit."""
        waiting = [(node, 0, start)]
        while waiting:
            node, depth, head = waiting.pop()
            items = items_of(node, self.scale)
            self._level(depth).extend(self._boundaries(items, head))
            starts = {item.node.start_byte: item.start for item in items if item.node is not None}
            for child in self.scale.large(node) if len(items) > 1 else self.scale.inner(node):
                waiting.append((child, min(depth + bool(items), _DEPTH - 1), starts.get(child.start_byte, head)))

    def _boundaries(self, items: list[Item], head: int) -> list[int]:
        """Starts of the elements of a list that begins at `head`. The first one stays with the head, and a large one with all before it, where
        that is a crumb."""
        found = list[int]()
        for place, item in enumerate(items):
            near = self.scale.units(head, item.start) < self.scale.crumb
            if near and (place == 0 or not self.scale.fits(item.start, item.end)):
                found.clear()
            elif item.start > head:
                found.append(item.start)
        return found

    def _level(self, depth: int) -> list[int]:
        while len(self._statements) <= depth:
            self._statements.append([])
        return self._statements[depth]


def _behind_decorators(node: Node, start: int) -> int:
    """Where what follows the decorators that `node` begins with begins; `start` where it begins with none."""
    parts = [part for child in node.children for part in (child.children if child.type == "modifiers" else (child,))]
    last = max((place for place, part in enumerate(parts) if part.type in DECORATORS), default=-1)
    return parts[last + 1].start_byte if 0 <= last < len(parts) - 1 else start
