"""Finds where trouble began among the bad values of a process, what was carried on from there, and what did no harm."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from functools import cached_property

from tdbg.model import Phase
from tdbg.query.flow.healing import Healing
from tdbg.query.flow.lineage import Lineage
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.query.verdict.bad_rows import beside, first_rows
from tdbg.query.verdict.harmless import HELD, Harmless, reason_of
from tdbg.vocabulary import DATASETS, ENTRANCES, HAND_ON, KEEPERS, ONLY_MOVE, SOFTMAXES, Kind

_RANK = {Phase.BACKWARD: 1, Phase.UPDATE: 2}
_GIVEN = ENTRANCES | {Kind.PYTHON}


class Trouble:
    """Walks from every harmful bad value back to the rows where it began."""

    def __init__(self, rows: Rows, program: Program, process: int, is_partial: bool = False) -> None:
        self._rows, self._program, self._process = rows, program, process
        self._is_partial = is_partial  # only some ops were recorded: what an infinity led to may be missing
        self._firsts = first_rows(rows, program, process)
        self._known = beside(rows, program, process, self._firsts)
        self.lineage = Lineage(rows, program, process, self._known)
        self._healing = Healing(rows, program, process, self._known)
        self.is_readable = bool(self._firsts)  # in a damaged trace its summaries may know of more bad rows

    # ---- the family of each bad row

    @cached_property
    def _parents(self) -> dict[int, list[Row]]:
        return {row.seq: self._bad_parents(row) for row in self._known}

    def _bad_parents(self, row: Row) -> list[Row]:
        parents = self._read_bad(row)
        if not row.nan:
            return parents
        if self._program.ops[row.op].kind == Kind.SELECT:  # it chose what is computed, as far as one can say
            parents = [one for one in parents if self._program.ops[one.op].kind != Kind.CONSTANT] or parents
        # A NaN made from a constant's infinity begins here: the constant (a mask's -inf) is innocent. So is a mask that
        # was given beside what was NaN already.
        is_mask = self._program.ops[row.op].kind in SOFTMAXES or any(parent.nan for parent in parents)
        return [
            parent
            for parent in parents
            if not self._is_fill(parent, is_mask) and not (is_mask and self._is_coped_with(parent, row))
        ]

    def _read_bad(self, row: Row) -> list[Row]:
        return [parent for parent in self.lineage.parents(row) if parent.is_bad and parent.seq != row.seq]

    def _is_coped_with(self, parent: Row, row: Row) -> bool:
        """Tells whether a softmax makes numbers of such infinities elsewhere, in the same tensor or in an earlier step:
        not they are new, but a row that has nothing else."""
        if parent.nan != 0 or parent.pos_inf or not parent.neg_inf:
            return False
        is_elsewhere = parent.elements == row.elements and parent.neg_inf > (row.nan or 0)
        return is_elsewhere or self._first_steps[parent.op, False] < self._first_steps.get((row.op, True), row.step)

    @cached_property
    def _first_steps(self) -> dict[tuple[int, bool], int]:
        """(op, whether it is the first NaN that is meant) -> the step of its first bad value."""
        found: dict[tuple[int, bool], int] = {}
        for row in (*self._firsts, *self._known):
            for is_nan in (False, True) if row.nan != 0 else (False,):
                found[row.op, is_nan] = min(row.step, found.get((row.op, is_nan), row.step))
        return found

    def _is_fill(self, row: Row, for_softmax: bool, depth: int = 12) -> bool:
        """Tells whether these are infinities that the program means: a constant's, or, on the way into a softmax, a
        mask's -inf that was given; handed on, selected and added, but not computed."""
        if row.nan != 0 or depth == 0:
            return False
        op = self._program.ops[row.op]
        if op.kind == Kind.CONSTANT:
            return True
        parents = self._read_bad(row)
        if not parents:
            is_given = row.is_input or op.kind in _GIVEN
            return for_softmax and is_given and not row.pos_inf
        return op.kind in HAND_ON and all(self._is_fill(parent, for_softmax, depth - 1) for parent in parents)

    @cached_property
    def _carriers(self) -> set[tuple[int, int]]:
        """(op, step) of ops that took in bad values and gave bad ones."""
        return {(row.op, row.step) for row in self._known if self._parents[row.seq]}

    @cached_property
    def _children(self) -> dict[int, list[Row]]:
        found: dict[int, list[Row]] = defaultdict(list)
        for row in self._known:
            for parent in self._parents[row.seq]:
                found[parent.seq].append(row)
        return found

    def healed_by(self, row: Row) -> Op | None:
        """Finds the op that read these bad values and gave good ones; None when they went on or nobody read them."""
        return None if self._children.get(row.seq) else self._healing.healed_by(row)

    # ---- trouble

    @cached_property
    def _harmful(self) -> list[Row]:
        """The bad values that have got to where they count, in the order of events."""
        return [row for row in self._known if self._is_harm(row)]

    def _is_harm(self, row: Row) -> bool:
        """Tells whether a bad value has got to where it counts: a gradient, an update, a loss, a result."""
        op = self._program.ops[row.op]
        if self._is_partial:
            return not (op.kind == Kind.CONSTANT and not row.nan)
        if op.kind == Kind.CONSTANT:
            return False  # nobody read it, or what came of it is looked at in its turn
        if op.phase in (Phase.BACKWARD, Phase.UPDATE):
            return not self._scales_loss
        if self._children.get(row.seq) or self.healed_by(row) is not None:  # what came of it is looked at in its turn
            return op.kind == Kind.READ and self._healing.is_swallowed(row, self._children)
        if row.is_input and op.kind in DATASETS:
            return False  # a pipeline may leave bad records out; those that come through are looked at where they do
        is_given = op.kind in HELD or row.is_input
        return row.nan != 0 or (row.elements == 1 and not is_given) or self._is_spoilt(row, op)

    def _is_spoilt(self, row: Row, op: Op) -> bool:
        """Tells whether a variable was read before and was good: an update that has no rows of its own made it
        infinite."""
        return op.kind == Kind.READ and op.number in self._once_good and not self._read_bad(row)

    @cached_property
    def _once_good(self) -> set[int]:
        """Ops that read a good value from a variable before a bad one."""
        firsts = {row.op: row.seq for row in reversed(self._firsts) if self._is_kept(row)}
        return self._rows.seen_before(self._process, firsts)

    @cached_property
    def _scales_loss(self) -> bool:
        """A loss-scaling optimizer, whose infinite gradients are skipped by design, and no variable that went bad."""
        if not self._program.scales_loss:
            return False
        spoilt = [row for row in self._firsts if self._program.ops[row.op].kind == Kind.READ and row.step > 0]
        forward = [row for row in self._firsts if self._program.ops[row.op].phase == Phase.FORWARD and row.nan != 0]
        return not spoilt and not forward

    @cached_property
    def origins(self) -> list[Row]:
        """The first rows of all trouble, one for each line of the program: those that spoilt the training before those
        that did not, then the earliest first; forward comes before backward in a step, whatever the clock says, for a
        graph may compute both at the same time."""
        seen = {row.seq for row in self._harmful}
        waiting, roots = list(self._harmful), []
        while waiting:
            row = waiting.pop()
            parents = self._parents[row.seq] if row.seq in self._parents else self._bad_parents(row)
            if not parents:
                roots.append(row)
            for parent in parents:
                if parent.seq not in seen:
                    seen.add(parent.seq)
                    waiting.append(parent)
        roots = [row for row in roots if not self._is_consequence(row, {root.seq for root in roots})]
        beside = self._beside_training(roots)
        roots.sort(
            key=lambda row: (row.seq in beside, row.step, _RANK.get(self._program.ops[row.op].phase, 0), row.seq)
        )
        origins = self._distinct(roots)
        return origins[:1] if self._is_partial else origins  # what lies between two rows may not have been recorded

    def _is_consequence(self, row: Row, roots: set[int]) -> bool:
        """Tells whether a NaN was made from infinities which a program may mean, but which are in trouble
        themselves."""
        if not row.nan or self._parents.get(row.seq):
            return False
        seen, waiting = {row.seq}, [row]
        while waiting and len(seen) < 1000:
            for parent in self._read_bad(waiting.pop()):
                if parent.seq in roots:
                    return True
                if parent.seq not in seen:
                    seen.add(parent.seq)
                    waiting.append(parent)
        return False

    def _beside_training(self, roots: list[Row]) -> set[int]:
        """Finds infinities of the forward pass (of a metric, say, not of the loss) that came to nothing in the step in
        which they were made: its gradients and updates, and the variables after it, were good. Trouble that spoilt
        those is told first."""
        spoilt = [row for row in self._known if self._is_grave(row)]
        first = min((row.step for row in spoilt), default=0)
        early = {
            row.seq
            for row in roots
            if row.step < first and not row.nan and not self._is_grave(row) and not self._is_kept(row)
            if row.op not in self._differentiated
        }
        if early and len(early) < len(roots):
            seen = {row.seq for row in spoilt}
            while spoilt:
                new = [one for one in self._parents.get(spoilt.pop().seq, ()) if one.seq not in seen]
                seen.update(one.seq for one in new)
                spoilt += new
            ops = {row.op for row in roots if row.seq in early - seen}
            return {row.seq for row in roots if row.op in ops and row.seq not in seen}
        return set()

    @cached_property
    def _differentiated(self) -> set[int]:
        """The losses: what gradients are taken of."""
        return {op for (op,) in self._rows.query(f"SELECT op FROM targets WHERE process = {self._process}")}

    def _is_grave(self, row: Row) -> bool:
        op = self._program.ops[row.op]
        return op.phase in (Phase.BACKWARD, Phase.UPDATE) or (op.kind == Kind.READ and row.step > 0)

    def _distinct(self, roots: list[Row]) -> list[Row]:
        # What only hands on did not begin here, though what it was given has no row.
        roots = [row for row in roots if self._program.ops[row.op].kind not in ONLY_MOVE] or roots
        made = [(row.step, row.seq) for row in roots if not self._is_kept(row)]
        began = min(made) if made else min(((row.step, row.seq) for row in roots), default=(0, 0))
        kept: list[Row] = []
        places = set()
        for row in roots:
            op = self._program.ops[row.op]
            frame = self._program.user_frame(op)
            place = (frame.file, frame.line) if frame else (op.graph, op.name)
            if place in places or self._is_carried(row, op, kept, began):
                continue
            places.add(place)
            kept.append(row)
        return kept or roots[:1]  # harm has an origin, whatever this says of each

    def _is_kept(self, row: Row) -> bool:
        """Tells whether it is out of something that the program keeps, which may have gone bad long before it was
        looked at."""
        return row.is_input or self._program.ops[row.op].kind in KEEPERS

    def _is_carried(self, row: Row, op: Op, earlier: list[Row], began: tuple[int, int]) -> bool:
        """Tells whether it is bad through what the program keeps from step to step, after trouble that was found
        already."""
        if self._is_kept(row):
            # An array that the program hands over may have come of trouble in an earlier step, but hardly in this one;
            # what a gradient is handed came out of the forward pass.
            is_handed = row.is_input and op.phase != Phase.BACKWARD and self.lineage.is_outermost(row)
            if row.step > began[0] or (row.step == began[0] and row.seq > began[1] and not is_handed):
                return True
        # A gradient's own root at a forward op that is in trouble already, or took in what was, is the same story.
        is_gradient = op.phase == Phase.BACKWARD and op.forward >= 0
        if is_gradient and (any(op.forward == kept.op for kept in earlier) or (op.forward, row.step) in self._carriers):
            return True
        # Once weights are NaN all that follows may come of them, though not every way there is recorded (the gradient
        # of a maximum that is NaN is 0/0).
        if row.nan and self._spoilt_at < (row.step, row.seq) and any(kept.step < row.step for kept in earlier):
            return True
        # Numbers that grow overflow at their end first, and in later steps further and further up.
        return not row.nan and any(
            row.step > kept.step and not kept.nan and self._program.graph.leads_to(op, self._program.ops[kept.op])
            for kept in earlier
        )

    @cached_property
    def _spoilt_at(self) -> tuple[float, float]:
        """The step and the event in which a variable was first read that was NaN."""
        reads = [row for row in self._firsts if row.nan and self._program.ops[row.op].kind == Kind.READ]
        return min(((row.step, row.seq) for row in reads), default=(math.inf, math.inf))

    def path(self, row: Row) -> list[Row]:
        """Goes from a bad row back to where it began, the nearest way, over bad rows. Of an output that was bad before,
        the first time is followed."""
        known = {one.seq for one in self._known}
        if row.seq not in known:
            row = next((one for one in self._firsts if (one.op, one.slot) == (row.op, row.slot)), row)
        came_from: dict[int, Row | None] = {row.seq: None}
        waiting, ends = deque([row]), []
        while waiting:
            one = waiting.popleft()
            parents = self._parents[one.seq] if one.seq in self._parents else self._bad_parents(one)
            if not parents:
                ends.append(one)
            for parent in parents:
                if parent.seq not in came_from:
                    came_from[parent.seq] = one
                    waiting.append(parent)
        origins = {one.seq for one in self.origins}
        end: Row | None = next((one for one in ends if one.seq in origins), ends[0] if ends else row)
        found = []
        while end is not None:
            found.append(end)
            end = came_from[end.seq]
        return found[::-1]

    # ---- no trouble

    @cached_property
    def harmless(self) -> list[Harmless]:
        """Places where bad values appeared that are part of no trouble, one for each line and op type."""
        found: dict[tuple, Harmless] = {}
        for row in self._firsts:
            if row.seq not in self._harmless_roots:
                continue
            op = self._program.ops[row.op]
            frame = self._program.user_frame(op)
            key = (frame.file, frame.line, op.type) if frame else (op.graph, op.name, op.type)
            if key not in found:
                found[key] = self._reason(row, op)
        return list(found.values())

    @cached_property
    def harmless_ops(self) -> frozenset[int]:
        """Ops whose bad values are part of no trouble: those where they appeared, and those that only carried them."""
        if not self.origins:
            return frozenset(row.op for row in self._firsts)
        good = set(self._harmless_roots)
        for row in self._known:  # in the order of events, so a row comes after those that it was made from
            parents = self._parents[row.seq]
            if parents and row.seq not in self._troubled and all(parent.seq in good for parent in parents):
                good.add(row.seq)
        harmful = {row.op for row in self._firsts if row.seq not in good}
        return frozenset(row.op for row in self._firsts if row.op not in harmful)

    @property
    def harm_begins(self) -> int | None:
        """The first event that led to harm."""
        return min(self._troubled, default=None)

    @cached_property
    def _harmless_roots(self) -> set[int]:
        """Events in which bad values appeared that did no harm."""
        frames = [self._program.user_frame(self._program.ops[row.op]) for row in self.origins]
        lines = {(frame.file, frame.line) for frame in frames if frame is not None}
        began = min((row.seq for row in self.origins), default=None)
        found = set()
        for row in self._known:
            if row.seq in self._troubled or self._parents.get(row.seq):
                continue
            if began is not None and row.seq > began and self._is_kept(row):
                continue  # what the program keeps went bad in that trouble
            frame = self._program.user_frame(self._program.ops[row.op])
            if frame is None or (frame.file, frame.line) not in lines:  # else: part of the story told of this line
                found.add(row.seq)
        return found

    @cached_property
    def _troubled(self) -> set[int]:
        """The events that led to harm."""
        seen = {row.seq for row in self._harmful}
        waiting = list(self._harmful)
        while waiting:
            row = waiting.pop()
            for parent in self._parents.get(row.seq, ()):
                if parent.seq not in seen:
                    seen.add(parent.seq)
                    waiting.append(parent)
        return seen

    def _reason(self, row: Row, op: Op) -> Harmless:
        end = self._end_of(row)
        if op.phase in (Phase.BACKWARD, Phase.UPDATE) and self._scales_loss:
            return Harmless(row, op, "loss_scale_overflow")
        return reason_of(row, op, end, self.healed_by(end), self._is_kept(row) or self._is_kept(end))

    def _end_of(self, row: Row) -> Row:
        """Finds the last bad row that came of this one, the first time."""
        seen = {row.seq}
        while True:
            following = [child for child in self._children.get(row.seq, ()) if child.seq not in seen]
            if not following:
                return row
            row = following[0]
            seen.add(row.seq)
