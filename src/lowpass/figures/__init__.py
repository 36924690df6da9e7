"""Stored numbers made visible.

A figure selects from an experiment's dataset and draws; it computes nothing,
sets no rcParam, names no colour and has no legend.
"""
