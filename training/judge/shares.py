"""Shares: how many of each part are drawn, and how sure a share of verdicts is."""

import math


def apportioned(sizes, total):
    """How many to draw of each part so that shares are kept and the sum is `total`, or all there is: by largest
    remainders."""
    total = min(total, sum(sizes.values()))
    exact = {name: size * total / sum(sizes.values()) for name, size in sizes.items()}
    result = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(sizes, key=lambda name: (result[name] - exact[name], name))
    for name in by_remainder[: total - sum(result.values())]:
        result[name] += 1
    return result


def wilson(hits, count, z=1.96):
    """Wilson's score interval of a share (1927), by default at 95 %."""
    if count == 0:
        return 0.0, 1.0
    share = hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)
