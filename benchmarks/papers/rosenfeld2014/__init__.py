"""Rosenfeld, Meshi, Tarlow, Globerson (2014): graphs ranked jointly, or not."""
