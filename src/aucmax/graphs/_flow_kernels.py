# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Divide and conquer by maximum flow, for total variation on any graph.

The state is a flow on the edges, and the values less what flows out of each node. A
block is cut at a pivot: a maximum flow goes from the nodes above it to those below it,
and the nodes that cannot reach a lower one any more are the upper part. A block that
the pivot of its mean does not cut has one value. Parts continue from the flow of their
block. SciPy's solver has capacities of 32 bits, too few to separate values.

Legend: `state` = (node, value, begin, end, head, twin, room): at each place a node with
its value and arcs, from begin to before end; of an arc the place of its head, the
opposite arc, and the room, its residual capacity. A block has the places from `low` to
before `high`, contiguous in memory: a cut writes its parts to the other half of the
arrays. The caller allocates arrays, since allocation takes long to compile.
"""

import numpy as np

from aucmax._core.compiled import njit

_FAR = 2**30  # the label of a node that reaches no lower one
_MIN_PART = 0.1  # of a block: after a less balanced cut, the pivot is not the mean
_N_SWEEPS = 5  # over all edges, to begin with


@njit(cache=True, nogil=True)
def _label(low, high, pivot, state, label, queue):
    """Label nodes by their distance to one below the pivot; queue and count them."""
    _, value, begin, end, head, twin, room = state
    n_queued = 0
    for i in range(low, high):
        label[i] = _FAR
        if value[i] < pivot:
            label[i] = 1
            queue[n_queued] = i
            n_queued += 1
    done = 0
    while done < n_queued:
        j = queue[done]
        done += 1
        for arc in range(begin[j], end[j]):
            i = head[arc]
            if label[i] == _FAR and room[twin[arc]] > 0.0:
                label[i] = label[j] + 1
                queue[n_queued] = i
                n_queued += 1
    return n_queued


@njit(cache=True, nogil=True)
def _discharge(i, pivot, state, label, queue, n_queue, tail, waits):
    """Push the excess of node i over the pivot; return the new tail and the work."""
    _, value, begin, end, head, twin, room = state
    work = 1
    while value[i] > pivot:
        nearest = _FAR
        for arc in range(begin[i], end[i]):
            work += 1
            if room[arc] <= 0.0:
                continue
            j = head[arc]
            if label[j] >= label[i]:
                nearest = min(nearest, label[j])
                continue
            excess, lack = value[i] - pivot, pivot - value[j]
            pushed = min(excess, room[arc])
            # no more than it lacks: a hub would get the remainder back from each leaf
            if 0.0 < lack <= pushed:
                pushed = lack
                value[j] = pivot
            else:
                value[j] += pushed
            room[arc] -= pushed
            room[twin[arc]] += pushed
            value[i] = pivot if pushed == excess else value[i] - pushed
            if value[j] > pivot and not waits[j]:
                waits[j] = True
                queue[tail % n_queue] = j
                tail += 1
            if pushed == excess:
                return tail, work
            if room[arc] > 0.0:
                nearest = min(nearest, label[j])
        if nearest == _FAR:
            label[i] = _FAR
            return tail, work
        label[i] = nearest + 1
    return tail, work


@njit(cache=True, nogil=True)
def _flow_down(low, high, pivot, state, label, queue, waits):
    """Run a maximum flow to below the pivot; far labels mark the upper part."""
    value, begin, end = state[1], state[2], state[3]
    n = high - low
    size = n + (end[low:high] - begin[low:high]).sum()
    while True:
        n_labelled = _label(low, high, pivot, state, label, queue)
        # the farthest first: each node passes on what it received from those behind it,
        # instead of every node of a long path sending its own part all the way
        for k in range(n_labelled // 2):
            other = n_labelled - 1 - k
            queue[k], queue[other] = queue[other], queue[k]
        first, tail = 0, np.int64(0)  # not a literal, which would compile once more
        for k in range(n_labelled):
            i = queue[k]
            if value[i] > pivot:
                waits[i] = True
                queue[tail] = i
                tail += 1
        if tail == 0:
            return
        work = 0
        # labels become stale, and computing them again costs about `size`
        while first < tail and 2 * work < size:
            i = queue[first % n]
            first += 1
            waits[i] = False
            if label[i] < _FAR:
                tail, more = _discharge(i, pivot, state, label, queue, n, tail, waits)
                work += more
        while first < tail:
            waits[queue[first % n]] = False
            first += 1


@njit(cache=True, nogil=True)
def _is_flat(low, high, value, pivot):
    """Return whether the excess over a pivot, or the lack, is only rounding."""
    above, below, largest = 0.0, 0.0, 0.0
    for i in range(low, high):
        excess = value[i] - pivot
        above += max(excess, 0.0)
        below += max(-excess, 0.0)
        largest = max(largest, abs(value[i]))
    enough = 2.2e-16 * largest * np.sqrt(high - low)
    return min(above, below) <= enough


@njit(cache=True, nogil=True)
def _write(places, n_places, part, state, low, first_arc, place, moved):
    """Write nodes to the places from `low` on, with the arcs within a part."""
    # place and moved: where each node and each arc is now
    node, value, begin, end, head, twin, room = state
    to = first_arc
    for k in range(n_places):
        i, at = places[k], low + k
        place[i] = at
        node[at] = node[i]
        value[at] = value[i]
        begin[at] = to
        for arc in range(begin[i], end[i]):
            if part[head[arc]] == part[i]:
                moved[arc] = to
                to += 1
        end[at] = to
    to = first_arc
    for k in range(n_places):
        i = places[k]
        for arc in range(begin[i], end[i]):
            if part[head[arc]] == part[i]:
                head[to] = place[head[arc]]
                twin[to] = moved[twin[arc]]
                room[to] = room[arc]
                to += 1


@njit(cache=True, nogil=True)
def _average_along_edges(n, state):
    """Move the ends of each edge closer: a cheap start that leaves less to flow."""
    _, value, begin, end, head, twin, room = state
    for _ in range(_N_SWEEPS):
        for i in range(n):
            for arc in range(begin[i], end[i]):
                j = head[arc]
                if j < i:
                    continue
                flow = 0.5 * (value[i] - value[j])
                flow = max(min(flow, room[arc]), -room[twin[arc]])
                room[arc] -= flow
                room[twin[arc]] += flow
                value[i] -= flow
                value[j] += flow


@njit(cache=True, nogil=True)
def _list_upper_first(low, high, label, part, places):
    """List the places of the upper part, then the others; return its size."""
    n_upper = 0
    for i in range(low, high):
        part[i] = label[i] == _FAR
        if part[i]:
            places[n_upper] = i
            n_upper += 1
    n_listed = n_upper
    for i in range(low, high):
        if not part[i]:
            places[n_listed] = i
            n_listed += 1
    return n_upper


@njit(cache=True, nogil=True)
def split_into_blocks(offsets, state, workspace, todo, block):
    """Set the block of each node; those of higher values have lower numbers."""
    # No edge joins two segments: the places from one offset to the next, in the first
    # half of the state. workspace = (label, queue, waits, part, place of nodes; moved,
    # of arcs); todo, of shape (64, 3), lists blocks, and whether to cut not at the mean
    value, begin = state[1], state[2]
    label, queue, waits, part, place, moved = workspace
    n, n_arcs = block.size, moved.size // 2
    _average_along_edges(n, state)
    for s in range(offsets.size - 1):
        n_todo, todo[0, 0], todo[0, 1], todo[0, 2] = 1, offsets[s], offsets[s + 1], 0
        while n_todo > 0:
            n_todo -= 1
            low, high, halve = todo[n_todo, 0], todo[n_todo, 1], todo[n_todo, 2]
            if high == low:
                continue
            pivot = value[(low + high) // 2] if halve else np.mean(value[low:high])
            _flow_down(low, high, pivot, state, label, queue, waits)
            if not halve and _is_flat(low, high, value, pivot):
                for i in range(low, high):
                    block[state[0][i]] = low % n
                continue
            n_upper = _list_upper_first(low, high, label, part, queue)
            # the same places of the other half
            shift, arc_shift = (n, n_arcs) if low < n else (-n, -n_arcs)
            first_arc = begin[low] + arc_shift
            low += shift
            high += shift
            _write(queue, high - low, part, state, low, first_arc, place, moved)
            # the smaller part is done first, so at most log2(n) parts wait
            smaller = min(n_upper, high - low - n_upper)
            unbalanced = not halve and smaller < _MIN_PART * (high - low)
            upper, lower = (1, 0) if n_upper == smaller else (0, 1)
            todo[n_todo + upper, 0], todo[n_todo + upper, 1] = low, low + n_upper
            todo[n_todo + lower, 0], todo[n_todo + lower, 1] = low + n_upper, high
            todo[n_todo : n_todo + 2, 2] = unbalanced
            n_todo += 2
