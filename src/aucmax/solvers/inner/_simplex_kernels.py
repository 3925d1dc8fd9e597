# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled active-set method for a convex quadratic over the probability simplex.

Legend for this file: Q, b = the quadratic 1/2 x'Qx - b'x; used[:count] = the
coordinates above zero, and one that is about to rise; the first n of them are in the
factor, the very first is the anchor p; R = `factor`, that of the curvature among those
n, seen from the anchor:

    H[i, j] = Q[i, j] - Q[i, p] - Q[j, p] + Q[p, p] = (R'R)[i, j],   R upper.

The anchor takes whatever the others give away, so that the sum of x is kept without an
equation of its own. Row r of R belongs to used[r + 1].

To compile quickly (two seconds), conditions stand in place of min, max and hypot,
each of which would become a function of its own, and small parts are inlined.
"""

import math

from aucmax._compiled import njit

# A difference below this share of its terms is rounding: four units in the last place.
_LARGEST_ROUNDING_ERROR = 4.0 * 2.220446049250313e-16
_SMALLEST_PIVOT = 1e-300  # also where all terms are 0

inlined = njit(cache=True, nogil=True, error_model="numpy", inline="always")


@njit(cache=True, nogil=True, error_model="numpy")
def active_set(matrix, linear, x, used, factor, slope, way):
    """Move x, a point of the simplex, to the minimum of 1/2 x'Qx - b'x there.

    Q = matrix of shape (k, k), b = linear. Room to work in: `factor` of shape (k, k),
    `used`, `slope` and `way` of length k. Every step goes to the minimum over the
    coordinates in use, or until one of them reaches zero and leaves; at such a minimum
    the one that promises most enters. A step costs O(k n).
    """
    n = count = 0
    is_fresh, is_minimum, last_gap = True, False, math.inf
    for _ in range(20 * linear.size + 100):  # only rounding could make it so many
        largest = _fill_slope(matrix, linear, x, slope)
        if is_minimum:
            best, gap, terms = _best_promise(matrix, x, slope)
            is_new = x[best] == 0.0
            is_stuck = not is_new and gap > 0.5 * last_gap
            noise = _LARGEST_ROUNDING_ERROR * (terms + largest)
            if gap <= noise or (is_stuck and is_fresh):
                break  # the slopes in use are equal, and no other is lower
            last_gap = math.inf if is_new or is_stuck else gap
            if is_new:
                used[count] = best
                count += 1
            elif is_stuck:
                n = 0  # rotations have spoilt the factor
        if n == 0:
            n, count, is_fresh = 1, _collect(x, used), True
        while n < count and _factorize_next(matrix, largest, used, n, factor):
            n += 1
        _aim(factor, used, n, count, slope, way)
        step = _walk(x, used, n, count, way)
        if not step >= 0.0 or (is_fresh and step == 0.0):
            break  # only rounding sends a coordinate back that has just come
        before = count
        n, count = _dismiss(x, used, n, count, factor)
        is_minimum = n == before
        if not is_minimum:
            is_fresh, last_gap = False, math.inf
            n = n if step > 0.0 else 0


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_slope(matrix, linear, x, slope):
    """Set slope = Qx - b; return the largest entry of |b|."""
    largest = 0.0
    for i in range(x.size):
        slope[i] = -linear[i]
        if abs(linear[i]) > largest:
            largest = abs(linear[i])
    for j in range(x.size):
        share = x[j]
        if share > 0.0:
            for i in range(x.size):
                slope[i] += share * matrix[j, i]
    return largest


@inlined
def _best_promise(matrix, x, slope):
    """Find the lowest slope, how far it lies below the mean, and a bound of |Q| x."""
    best, mean, highest, terms = 0, 0.0, 0.0, 0.0
    for i in range(x.size):
        height = math.sqrt(abs(matrix[i, i]))  # |Q[i, j]| <= height i * height j
        terms += x[i] * height
        mean += x[i] * slope[i]
        if height > highest:
            highest = height
        if slope[i] < slope[best]:
            best = i
    return best, mean - slope[best], terms * highest


@inlined
def _collect(x, used):
    """List the coordinates above zero, the largest first; return how many."""
    anchor = count = used[0] = 0
    for i in range(x.size):
        if x[i] > 0.0:
            used[count] = i
            if x[i] > x[used[anchor]]:
                anchor = count
            count += 1
    first = used[0]
    used[0] = used[anchor]
    used[anchor] = first
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _factorize_next(matrix, largest, used, n, factor):
    """Append used[n] to the factor; say whether it is independent of the others.

    If its pivot is lost in rounding, as of equal cuts, the factor stays as it is, and
    the row below it keeps R^-T H[:, new] for `_aim`.
    """
    anchor, new, last = used[0], used[n], n - 1
    ends, between = matrix[anchor, anchor] + matrix[new, new], matrix[new, anchor]
    noise = _LARGEST_ROUNDING_ERROR * (ends + 2.0 * abs(between) + largest)
    noise += _SMALLEST_PIVOT
    pivot = ends - 2.0 * between
    offset = matrix[anchor, anchor] - between
    # left of the diagonal, a row of the factor is free: there goes the new column
    for r in range(last):
        other = used[r + 1]
        factor[last, r] = matrix[new, other] - matrix[anchor, other] + offset
    for r in range(last):
        entry = factor[last, r] / factor[r, r]
        factor[last, r] = entry
        pivot -= entry * entry
        for c in range(r + 1, last):
            factor[last, c] -= entry * factor[r, c]
    if not pivot > noise:
        return False
    for r in range(last):
        factor[r, last] = factor[last, r]
    factor[last, last] = math.sqrt(pivot)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _aim(factor, used, n, count, slope, way):
    """Set way[:n] to the step to the minimum over the factorized coordinates.

    If there is a further one, it depends on them: then way[:n + 1] is the direction
    without curvature, downhill.
    """
    last, is_flat = n - 1, n < count
    for r in range(last):
        if is_flat:
            way[r + 1] = -factor[last, r]
        else:
            way[r + 1] = slope[used[0]] - slope[used[r + 1]]
    if not is_flat:
        for r in range(last):
            entry = way[r + 1] / factor[r, r]
            way[r + 1] = entry
            for c in range(r + 1, last):
                way[c + 1] -= entry * factor[r, c]
    total = _substitute_back(factor, last, way)
    way[0] = -total
    if is_flat:
        way[0] -= 1.0
        way[n] = 1.0
        rise = 0.0
        for m in range(1, n + 1):
            rise += way[m] * (slope[used[m]] - slope[used[0]])
        if rise > 0.0:
            for m in range(n + 1):
                way[m] = -way[m]


@inlined
def _substitute_back(factor, last, way):
    """Replace way[1:] by R^-1 way[1:]; return its sum."""
    total = 0.0
    for r in range(last - 1, -1, -1):
        even = odd = 0.0  # two sums at a time are quicker than one
        for c in range(r + 1, last - 1, 2):
            even += factor[r, c] * way[c + 1]
            odd += factor[r, c + 1] * way[c + 2]
        if (last - r) % 2 == 0:
            even += factor[r, last - 1] * way[last]
        way[r + 1] = (way[r + 1] - even - odd) / factor[r, r]
        total += way[r + 1]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _walk(x, used, n, count, way):
    """Go the way, but not below zero; if it is flat, go until one is at zero.

    Returns the length of the step. If the way is not finite, stays and returns NaN.
    """
    step, n_moving = 1.0, n
    if n < count:
        step, n_moving = math.inf, n + 1
    for m in range(n_moving):
        if not math.isfinite(way[m]):
            return math.nan
        if way[m] < 0.0 and -x[used[m]] / way[m] < step:
            step = -x[used[m]] / way[m]
    for m in range(n_moving):
        i = used[m]
        if way[m] < 0.0 and -x[i] / way[m] <= step:
            x[i] = 0.0
        else:
            x[i] += step * way[m]
            if x[i] < 0.0:
                x[i] = 0.0
    return step


@njit(cache=True, nogil=True, error_model="numpy")
def _dismiss(x, used, n, count, factor):
    """Remove the coordinates at zero, by rotations; return the new n and count.

    Without its anchor the factor is void: then the new n is 0.
    """
    if not x[used[0]] > 0.0:
        return 0, 0
    for position in range(n if n < count else n - 1, 0, -1):
        if x[used[position]] > 0.0:
            continue
        count -= 1
        for m in range(position, count):
            used[m] = used[m + 1]
        if position == n:
            continue  # it depended on the others, and is not in the factor
        n -= 1
        gone, last = position - 1, n - 1
        for r in range(gone):
            for c in range(gone, last):
                factor[r, c] = factor[r, c + 1]
        for r in range(gone, last):
            above, below = factor[r, r + 1], factor[r + 1, r + 1]
            length = math.sqrt(above * above + below * below)
            cosine, sine = above / length, below / length
            factor[r, r] = length
            for c in range(r + 1, last):
                above, below = factor[r, c + 1], factor[r + 1, c + 1]
                factor[r, c] = cosine * above + sine * below
                factor[r + 1, c + 1] = cosine * below - sine * above
    return n, count
