"""Analysers that forget something, which a test of fingerprints has to notice."""

from __future__ import annotations

import ast

from lowpass.fingerprint import cleaning, closure, reading


def forget_defaults(monkeypatch):
    class Forgetful(cleaning.Cleaner):
        def visit(self, node):
            if isinstance(node, ast.arguments):
                node.defaults, node.kw_defaults = [], []
            super().visit(node)

    monkeypatch.setattr(reading, "Cleaner", Forgetful)


def forget_decorators(monkeypatch):
    class Forgetful(cleaning.Cleaner):
        def visit(self, node):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []
            super().visit(node)

    monkeypatch.setattr(reading, "Cleaner", Forgetful)


def forget_constants(monkeypatch):
    reach = closure.Sweep.reach

    def forgetful(self, name):
        constant = isinstance(self.index.units[name].node, ast.Assign)
        return set() if constant and "KERNELS" not in name else reach(self, name)

    monkeypatch.setattr(closure.Sweep, "reach", forgetful)


def forget_imports(monkeypatch):
    reach = closure.Sweep.reach

    def forgetful(self, name):
        module = self.index.units[name].module
        return {each for each in reach(self, name) if self.index.units[each].module == module}

    monkeypatch.setattr(closure.Sweep, "reach", forgetful)


def forget_entries(monkeypatch):
    reach = closure.Sweep.reach

    def forgetful(self, name):
        found = reach(self, name)
        self.names = {"softmax"}
        return found

    monkeypatch.setattr(closure.Sweep, "reach", forgetful)
