# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
r"""Divide and conquer by maximum flow, for total variation on any graph.

The state is a flow on the edges, within their capacities, and what it leaves of the
values: the value of a node is its own one less what flows out. At the solution no flow
can go from a higher value to a lower one. A block is cut at a pivot: as much as can be
flows from the nodes above it to those below it, and the nodes from which nothing more
could reach a lower one are the upper part. A block that the pivot of its mean does not
cut has one value. No flow is lost: parts go on from where their block stood.

A block lies side by side in memory, its nodes and their arcs, so that small ones fit
into the cache: a cut writes its two parts to the other of two places, without the
arcs between them, which are of no more use.

Legend: `state` = (node, value, begin, end, head, twin, room): at each place a node with
its value and arcs, from begin to before end; of an arc the place of its head, the
opposite arc, and the room for what may still flow. A block has the places from `low` to
before `high`.

SciPy's solver holds capacities in 32 bits, which is not enough to tell values apart.
"""

import numpy as np

from aucmax._compiled import njit

__all__ = ["adjacency", "fill_blocks", "split_into_blocks"]

_FAR = 2**30  # the label of a node that reaches no lower one
_SMALLEST_PART = 0.1  # of a block, by a cut that is good enough
_WORK_BETWEEN_LABELS = 0.5  # in nodes and arcs of a block
_N_SWEEPS = 5  # over all edges, to begin with

# for kernels that kernels alone call: without a way in from Python they compile faster
_inner = njit(cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@njit(cache=True, nogil=True)
def adjacency(edges, n_nodes):
    """List the arcs of each node: where they begin, their heads, twins and edges.

    All are integers of the kind of `edges`.
    """
    begin = np.zeros(n_nodes + 1, edges.dtype)
    for e in range(edges.shape[0]):
        begin[edges[e, 0] + 1] += 1
        begin[edges[e, 1] + 1] += 1
    for i in range(n_nodes):
        begin[i + 1] += begin[i]
    place = begin[:-1].copy()
    head = np.empty(2 * edges.shape[0], edges.dtype)
    twin = np.empty_like(head)
    edge = np.empty_like(head)
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        there, back = place[i], place[j]
        place[i] += 1
        place[j] += 1
        head[there], twin[there], edge[there] = j, back, e
        head[back], twin[back], edge[back] = i, there, e
    return begin, head, twin, edge


@_inner
def _label(low, high, pivot, state, label, queue):
    """Set each node's distance to the nearest node below the pivot, within a block.

    Return how many reach one; `queue` lists them, the nearest first.
    """
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


@_inner
def _reverse(places):
    for k in range(places.size // 2):
        other = places.size - 1 - k
        places[k], places[other] = places[other], places[k]


@_inner
def _discharge(i, pivot, state, label, queue, tail, waits):
    """Let what node i has above the pivot flow on; tell the new tail and the work."""
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
            excess = value[i] - pivot
            pushed = min(excess, room[arc])
            room[arc] -= pushed
            room[twin[arc]] += pushed
            value[j] += pushed
            value[i] = pivot if pushed == excess else value[i] - pushed
            if value[j] > pivot and not waits[j]:
                waits[j] = True
                queue[tail % queue.size] = j
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


@_inner
def _flow_down(low, high, pivot, state, label, queue, waits):
    """Let as much as possible flow from above the pivot to below it, in one block.

    Afterwards the nodes labelled as far are the upper part.
    """
    _, value, begin, end = state[:4]
    size = high - low
    for i in range(low, high):
        size += end[i] - begin[i]
    queue = queue[: high - low]
    while True:
        n_labelled = _label(low, high, pivot, state, label, queue)
        _reverse(queue[:n_labelled])
        first, tail = 0, np.int64(0)  # not a literal, which would compile once more
        # the farthest first: each takes along what those behind it have sent, where
        # else on a long path every node would send its own part all the way by itself
        for i in queue[:n_labelled]:
            if value[i] > pivot:
                waits[i] = True
                queue[tail] = i
                tail += 1
        if tail == 0:
            return
        work = 0
        # labels fall behind, and to set them anew costs about `size`
        while first < tail and work < _WORK_BETWEEN_LABELS * size:
            i = queue[first % queue.size]
            first += 1
            waits[i] = False
            if label[i] < _FAR:
                tail, more = _discharge(i, pivot, state, label, queue, tail, waits)
                work += more
        while first < tail:
            waits[queue[first % queue.size]] = False
            first += 1


@_inner
def _mean(low, high, value):
    total = 0.0
    for i in range(low, high):
        total += value[i]
    mean = total / (high - low)
    rest = 0.0
    for i in range(low, high):
        rest += value[i] - mean
    return mean + rest / (high - low)


@_inner
def _is_flat(low, high, value, pivot):
    """Tell whether what is left above a pivot, or below it, is rounding alone."""
    above, below, largest = 0.0, 0.0, 0.0
    for i in range(low, high):
        rest = value[i] - pivot
        above += max(rest, 0.0)
        below += max(-rest, 0.0)
        largest = max(largest, abs(value[i]))
    enough = 2.2e-16 * largest * np.sqrt(high - low)
    return min(above, below) <= enough


@_inner
def _empty_state(n_nodes, n_arcs, kind):
    return (
        np.empty(n_nodes, kind),
        np.empty(n_nodes),
        np.empty(n_nodes, kind),
        np.empty(n_nodes, kind),
        np.empty(n_arcs, kind),
        np.empty(n_arcs, kind),
        np.empty(n_arcs),
    )


@_inner
def _write(places, part, state, new_state, low, first_arc, place, moved):
    """Write the nodes of some places anew, with the arcs within a part.

    They come to the places from `low` on, their arcs to those from `first_arc` on.
    `place` and `moved` are there to note where each node and each arc has gone.
    """
    node, value, begin, end, head, twin, room = state
    new_node, new_value, new_begin, new_end, new_head, new_twin, new_room = new_state
    at, to = low, first_arc
    for i in places:
        place[i] = at
        new_node[at] = node[i]
        new_value[at] = value[i]
        new_begin[at] = to
        for arc in range(begin[i], end[i]):
            if part[head[arc]] == part[i]:
                moved[arc] = to
                to += 1
        new_end[at] = to
        at += 1
    to = first_arc
    for i in places:
        for arc in range(begin[i], end[i]):
            if part[head[arc]] == part[i]:
                new_head[to] = place[head[arc]]
                new_twin[to] = moved[twin[arc]]
                new_room[to] = room[arc]
                to += 1


@_inner
def _lay_out(order, offsets, value, begin, head, twin, room):
    """Return the state of segments side by side; also room for notes of `_write`."""
    n, kind = value.size, head.dtype
    segment = np.full(n, -1, kind)
    for s in range(offsets.size - 1):
        for at in range(offsets[s], offsets[s + 1]):
            segment[order[at]] = s
    place, moved = np.empty(n, kind), np.empty(head.size, kind)
    node = np.arange(n).astype(kind)
    given = node, value, begin[:-1], begin[1:], head, twin, room
    state = _empty_state(order.size, head.size, kind)
    _write(order, segment, given, state, offsets[0], begin[0], place, moved)
    return state, segment, place, moved


@_inner
def _share(state):
    """Let each edge in turn bring its ends together, as far as it has room.

    A good beginning: it costs little and leaves less to flow far.
    """
    _, value, begin, end, head, twin, room = state
    for _ in range(_N_SWEEPS):
        for i in range(value.size):
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
def split_into_blocks(order, offsets, value, begin, head, twin, room):
    """Find the blocks of each segment of `order`; leave their values in `value`.

    `order` lists the nodes, segment after segment; no edge joins two segments. `room`
    is what may still flow along each arc.
    """
    n, kind = order.size, head.dtype
    here, part, place, moved = _lay_out(order, offsets, value, begin, head, twin, room)
    there = _empty_state(n, head.size, kind)
    _share(here)
    label, queue, waits = np.empty(n, kind), np.empty(n, kind), np.zeros(n, np.bool_)
    # the blocks to do; of two parts the smaller one is done first, so that no more wait
    # than n can be halved
    lows, highs = np.empty(64, np.int64), np.empty(64, np.int64)
    halves, theres = np.empty(64, np.bool_), np.empty(64, np.bool_)
    for s in range(offsets.size - 1):
        n_todo, lows[0], highs[0] = 1, offsets[s], offsets[s + 1]
        halves[0], theres[0] = False, False
        while n_todo > 0:
            n_todo -= 1
            low, high = lows[n_todo], highs[n_todo]
            halve, is_there = halves[n_todo], theres[n_todo]
            if high == low:
                continue
            state, other = (there, here) if is_there else (here, there)
            if halve:
                pivot = _middle(low, high, state[1])
            else:
                pivot = _mean(low, high, state[1])
            _flow_down(low, high, pivot, state, label, queue, waits)
            if not halve and _is_flat(low, high, state[1], pivot):
                for i in range(low, high):
                    value[state[0][i]] = pivot
                continue
            n_upper = _part(low, high, label, part, queue)
            places = queue[: high - low]
            _write(places, part, state, other, low, state[2][low], place, moved)
            smaller = min(n_upper, high - low - n_upper)
            unbalanced = not halve and smaller < _SMALLEST_PART * (high - low)
            upper, lower = (1, 0) if n_upper == smaller else (0, 1)
            lows[n_todo + upper], highs[n_todo + upper] = low, low + n_upper
            lows[n_todo + lower], highs[n_todo + lower] = low + n_upper, high
            for _ in range(2):
                halves[n_todo], theres[n_todo] = unbalanced, not is_there
                n_todo += 1


@_inner
def _middle(low, high, value):
    """Return the value in the middle of a block's, in expected linear time."""
    v = value[low:high].copy()
    middle = v.size // 2
    low, high = 0, v.size - 1
    while low < high:
        pivot = v[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while v[i] < pivot:
                i += 1
            while v[j] > pivot:
                j -= 1
            if i <= j:
                v[i], v[j] = v[j], v[i]
                i += 1
                j -= 1
        # now those up to j are at most the pivot, those from i on at least
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            break
    return v[middle]


@_inner
def _part(low, high, label, part, places):
    """List the places of the upper part of a block, then the others; count the upper.

    `part` tells them apart.
    """
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
def fill_blocks(order, offsets, value, targets, begin, head, twin, room):
    """Let values flow within each segment towards the segment's target."""
    n = order.size
    state, _, label, _ = _lay_out(order, offsets, value, begin, head, twin, room)
    queue, waits = np.empty(n, head.dtype), np.zeros(n, np.bool_)
    for s in range(offsets.size - 1):
        low, high = offsets[s], offsets[s + 1]
        _flow_down(low, high, targets[s], state, label, queue, waits)
    for i in range(n):
        value[state[0][i]] = state[1][i]
