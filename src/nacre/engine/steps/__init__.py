"""The processors of the chains: the settings and the worker of one in one module each.

`scope` and `prepare` of the candidate chain are in the package `engine.candidates`.
"""
