"""Sweeps, grids and kernels over the pairs of sorted rows."""
