"""What stands beside what in a syntax tree: the elements of a list (members, statements, arguments), each with the comments that lead it."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from harness.chunking.code_bytes import MeasuredBytes
from harness.chunking.code_syntax import CLASSES, COMMENTS, FUNCTIONS, LEADS

_DEFINITIONS = FUNCTIONS | CLASSES


@dataclass(slots=True)
class Item:
    """Bytes `start` to `end`, from the first comment, decorator or attribute that leads `node` to the last sign behind it; `node` is None where
    comments stand alone."""

    start: int
    end: int
    node: Node | None


@dataclass(frozen=True, slots=True)
class Scale:
    """Weighs bytes against the budget of a chunk (units)."""

    measured: MeasuredBytes
    budget: int

    @property
    def crumb(self) -> int:
        """A quarter of the budget: less doesn't stand alone where that can be helped."""
        return self.budget // 4

    def units(self, start: int, end: int) -> int:
        """Units of bytes start to end, trimmed."""
        return int(self.measured.ceil[end] - self.measured.floor[start])

    def fits(self, start: int, end: int) -> bool:
        """Whether they make one chunk at most."""
        return self.units(start, end) <= self.budget

    def large(self, node: Node) -> list[Node]:
        """The children of `node` that don't fit."""
        ceil, floor, budget = self.measured.ceil, self.measured.floor, self.budget
        return [child for child in node.children if ceil[child.end_byte] - floor[child.start_byte] > budget]

    def inner(self, node: Node) -> list[Node]:
        """The same, or else the longest child: where to look on in a node that doesn't fit though each of its children does."""
        longest = max(node.children, key=lambda child: child.end_byte - child.start_byte, default=None)
        return self.large(node) or ([] if longest is None else [longest])


def items_of(node: Node, scale: Scale) -> list[Item]:
    """The elements of the list that `node` is (behind its signature where it has a body), in order; none where it isn't one.

    An element begins a line or stands behind one of `{ ; , [ ( }`. A comment on the line where the element before it ends belongs to that one, and
    so does a comment right under it that a blank line parts from what follows. Any other comment, decorator or attribute belongs to what follows.
    """
    found = _List(scale)
    body = node.child_by_field_name("body")
    for child in node.children:
        if child.start_byte < child.end_byte and (body is None or child.start_byte >= body.start_byte):
            found.take(child)
    found.close()
    return found.items


class _List:
    """Takes the children of one node in turn. `lead`: where the comments begin that wait for an element, -1 where none wait; `second`: where what
    stands behind their first blank line begins, -1 for none; `near`: the same for their last."""

    def __init__(self, scale: Scale) -> None:
        self.scale, self.items = scale, list[Item]()
        self.gap, self.opens = scale.measured.gap, scale.measured.opens
        self.lead = self.second = self.near = self.last = -1

    def take(self, child: Node) -> None:
        start, end = child.start_byte, child.end_byte
        leads = child.is_named and child.type in LEADS
        if not child.is_named or (self.lead < 0 and not self.opens[start]) or (leads and self._trails(child)):
            self._extend(end)
        elif not leads:
            self._add(child)
        elif self.lead < 0:
            self.lead, self.second, self.near = start, -1, start
        else:
            self._part(start)
        self.last = end

    def close(self) -> None:
        """Comments at the end stand alone."""
        if self.lead >= 0:
            self.items.append(Item(self.lead, self.last, None))
            self.lead = -1

    def _trails(self, comment: Node) -> bool:
        return comment.type in COMMENTS and self.lead < 0 and self.gap[comment.start_byte] == 0

    def _extend(self, end: int) -> None:
        if self.items and self.lead < 0:
            self.items[-1].end = end

    def _part(self, start: int) -> None:
        if self.gap[start] == 2:
            self.near = start
            self.second = start if self.second < 0 else self.second

    def _add(self, child: Node) -> None:
        start, end = child.start_byte, child.end_byte
        begin = start
        if self.lead >= 0:
            self._part(start)
            begin = self._begin(start, end)
        self.items.append(Item(begin, end, child))
        self.lead = -1

    def _begin(self, start: int, end: int) -> int:
        """Where the element begins; comments that can't stay with it become items of their own."""
        scale, lead, near = self.scale, self.lead, self.near
        if self.second >= 0 and self.items and self.gap[lead] == 1 and scale.fits(self.items[-1].start, self.second):
            lead = self.items[-1].end = self.second
        if scale.fits(lead, end):
            return lead
        if lead < near:
            self.items.append(Item(lead, near, None))
        if near < start and scale.fits(start, end) and scale.units(near, start) >= scale.crumb:
            self.items.append(Item(near, start, None))
            return start
        return near


def open_up(node: Node, scale: Scale) -> tuple[list[Item], Node | None]:
    """The list inside `node`, and the outermost definition on the way to it.

    The way goes by bodies, and else by the only child that doesn't fit (where all do, the longest), until the list of a body or one of two elements.
    """
    definition, inside = None, False
    while True:
        if definition is None and node.type in _DEFINITIONS:
            definition = node
        body = node.child_by_field_name("body")
        if body is not None:
            node, inside = body, True
            continue
        items = items_of(node, scale)
        if len(items) > (0 if inside else 1):
            return items, definition
        inner = scale.inner(node)
        if len(inner) != 1:
            return [], definition
        node, inside = inner[0], False


def defines(node: Node) -> bool:
    """Whether there is a definition in `node`."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type in _DEFINITIONS:
            return True
        waiting.extend(node.children)
    return False


def holders(root: Node, scale: Scale) -> set[int]:
    """The ids of the nodes with a definition that doesn't fit somewhere inside."""
    found, ids, parents, waiting = set[int](), [root.id], [-1], [(root, 0)]
    while waiting:
        node, place = waiting.pop()
        for child in scale.large(node):
            if child.type in _DEFINITIONS:
                above = place
                while above >= 0 and ids[above] not in found:
                    found.add(ids[above])
                    above = parents[above]
            waiting.append((child, len(ids)))
            ids.append(child.id)
            parents.append(place)
    return found
