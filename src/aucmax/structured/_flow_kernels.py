# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
r"""Divide and conquer by maximum flow, for total variation on any graph.

The state is a flow on the edges, within their capacities, and what it leaves of the
values: the value of a node is its own one less what flows out. At the solution no flow
can go from a higher value to a lower one. A block is cut at a pivot: as much as can be
flows from the nodes above it to those below it, and the nodes from which nothing more
could reach a lower one are the upper part. A block that the pivot of its mean does not
cut has one value. No flow is lost: parts go on from where their block stood.

Library solvers hold capacities in 32 bits, which is not enough to tell values apart.
"""

import numpy as np
from numba import njit

__all__ = ["adjacency", "fill_blocks", "split_into_blocks"]

_FAR = 2**30  # the label of a node that reaches no lower one
_BALANCED = 0.1  # the smaller part of a good cut


@njit(cache=True, nogil=True)
def adjacency(edges, n_nodes):
    """List the arcs of each node: where they begin, their heads, and their edges."""
    begin = np.zeros(n_nodes + 1, np.int64)
    for e in range(edges.shape[0]):
        begin[edges[e, 0] + 1] += 1
        begin[edges[e, 1] + 1] += 1
    for i in range(n_nodes):
        begin[i + 1] += begin[i]
    place = begin[:-1].copy()
    head = np.empty(2 * edges.shape[0], np.int64)
    twin = np.empty(2 * edges.shape[0], np.int64)
    edge = np.empty(2 * edges.shape[0], np.int64)
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        there, back = place[i], place[j]
        place[i] += 1
        place[j] += 1
        head[there], twin[there], edge[there] = j, back, e
        head[back], twin[back], edge[back] = i, there, e
    return begin, head, twin, edge


@njit(cache=True, nogil=True)
def _label(order, low, high, block, value, pivot, arcs, room, label, queue):
    """Set each node's distance to the nearest node below the pivot, within a block."""
    begin, head, twin = arcs
    n_queued = 0
    for at in range(low, high):
        i = order[at]
        label[i] = _FAR
        if value[i] < pivot:
            label[i] = 1
            queue[n_queued] = i
            n_queued += 1
    done = 0
    while done < n_queued:
        j = queue[done]
        done += 1
        for arc in range(begin[j], begin[j + 1]):
            i = head[arc]
            if label[i] == _FAR and block[i] == low and room[twin[arc]] > 0.0:
                label[i] = label[j] + 1
                queue[n_queued] = i
                n_queued += 1


@njit(cache=True, nogil=True)
def _discharge(i, low, block, value, pivot, arcs, room, label, queue, tail, waits):
    """Let what node i has above the pivot flow on; tell the new tail and the work."""
    begin, head, twin = arcs
    size = queue.size
    work = 0
    while value[i] > pivot:
        nearest = _FAR
        for arc in range(begin[i], begin[i + 1]):
            j = head[arc]
            work += 1
            if room[arc] <= 0.0 or block[j] != low:
                continue
            if label[j] >= label[i]:
                nearest = min(nearest, label[j])
                continue
            excess = value[i] - pivot
            pushed = min(excess, room[arc])
            room[arc] -= pushed
            room[twin[arc]] += pushed
            value[j] += pushed
            value[i] = pivot if pushed == excess else value[i] - pushed
            if value[j] > pivot and not waits[j]:
                waits[j] = True
                queue[tail % size] = j
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
def _flow_down(order, low, high, block, value, pivot, arcs, room, label, queue, waits):
    """Let as much as possible flow from above the pivot to below it, in one block.

    Afterwards the nodes labelled as far are the upper part.
    """
    begin = arcs[0]
    n_arcs = 0
    for at in range(low, high):
        n_arcs += begin[order[at] + 1] - begin[order[at]]
    while True:
        _label(order, low, high, block, value, pivot, arcs, room, label, queue)
        first, tail = 0, 0
        for at in range(low, high):
            i = order[at]
            if value[i] > pivot and label[i] < _FAR:
                waits[i] = True
                queue[tail] = i
                tail += 1
        if tail == 0:
            return
        work = 0
        while first < tail and work < 4 * (n_arcs + high - low):
            i = queue[first % queue.size]
            first += 1
            waits[i] = False
            if label[i] < _FAR:
                tail, more = _discharge(
                    i, low, block, value, pivot, arcs, room, label, queue, tail, waits
                )
                work += more + 1
        while first < tail:
            waits[queue[first % queue.size]] = False
            first += 1


@njit(cache=True, nogil=True)
def _mean(order, low, high, value):
    total = 0.0
    for at in range(low, high):
        total += value[order[at]]
    mean = total / (high - low)
    rest = 0.0
    for at in range(low, high):
        rest += value[order[at]] - mean
    return mean + rest / (high - low)


@njit(cache=True, nogil=True)
def _part(order, low, high, block, label, spare):
    """Put the upper part of a block first; return its size."""
    n_upper, n_lower = 0, 0
    for at in range(low, high):
        i = order[at]
        if label[i] == _FAR:
            order[low + n_upper] = i
            n_upper += 1
        else:
            spare[n_lower] = i
            n_lower += 1
    for k in range(n_lower):
        order[low + n_upper + k] = spare[k]
    if n_upper > 0:
        for k in range(n_lower):
            block[spare[k]] = low + n_upper
    return n_upper


@njit(cache=True, nogil=True)
def _is_flat(order, low, high, value, pivot):
    """Tell whether what is left above a pivot, or below it, is rounding alone."""
    above, below, largest = 0.0, 0.0, 0.0
    for at in range(low, high):
        rest = value[order[at]] - pivot
        above += max(rest, 0.0)
        below += max(-rest, 0.0)
        largest = max(largest, abs(value[order[at]]))
    enough = 2.2e-16 * largest * np.sqrt(high - low)
    return min(above, below) <= enough


@njit(cache=True, nogil=True)
def split_into_blocks(order, offsets, value, begin, head, twin, room):
    """Find the blocks of each segment of `order`; leave their values in `value`.

    `order` lists the nodes, segment after segment; no edge joins two segments. `room`
    is what may still flow along each arc.
    """
    n = begin.size - 1
    arcs = (begin, head, twin)
    block = np.empty(n, np.int64)
    label = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    waits = np.zeros(n, np.bool_)
    todo = [(np.int64(0), np.int64(0), False)]
    todo.clear()
    for s in range(offsets.size - 1):
        low, high = offsets[s], offsets[s + 1]
        for at in range(low, high):
            block[order[at]] = low
        todo.append((low, high, False))
        while len(todo) > 0:
            low, high, halve = todo.pop()
            if high == low:
                continue
            if halve:
                spare = np.empty(high - low)
                for at in range(low, high):
                    spare[at - low] = value[order[at]]
                pivot = np.median(spare)
            else:
                pivot = _mean(order, low, high, value)
            _flow_down(
                order, low, high, block, value, pivot, arcs, room, label, queue, waits
            )
            if not halve and _is_flat(order, low, high, value, pivot):
                for at in range(low, high):
                    value[order[at]] = pivot
                continue
            n_upper = _part(order, low, high, block, label, queue)
            smaller = min(n_upper, high - low - n_upper)
            unbalanced = not halve and smaller < _BALANCED * (high - low)
            todo.append((low, low + n_upper, unbalanced))
            todo.append((low + n_upper, high, unbalanced))


@njit(cache=True, nogil=True)
def fill_blocks(order, offsets, value, targets, begin, head, twin, room):
    """Let values flow within each segment towards the segment's target."""
    n = begin.size - 1
    arcs = (begin, head, twin)
    block = np.empty(n, np.int64)
    label = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    waits = np.zeros(n, np.bool_)
    for s in range(offsets.size - 1):
        for at in range(offsets[s], offsets[s + 1]):
            block[order[at]] = offsets[s]
    for s in range(offsets.size - 1):
        _flow_down(
            order,
            offsets[s],
            offsets[s + 1],
            block,
            value,
            targets[s],
            arcs,
            room,
            label,
            queue,
            waits,
        )
