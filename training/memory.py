"""Keeps what a training step frees, for the next one to take."""

import ctypes

# malloc.h of the GNU C library.
M_TRIM_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -4, -8


def keep_memory():
    """Has the C library keep freed memory rather than give it back to the system.

    PyTorch allocates every tensor of a step anew. Large ones are mapped and unmapped each time, and the system clears their
    pages when they are first touched, which took half of a step's time on two cores. Call before the first tensor.
    Elsewhere than on the GNU C library this does nothing.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
