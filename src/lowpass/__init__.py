"""Attention as a low-pass filter: a paper that recomputes itself."""
