"""Paths and motions in time. They take a robot as an argument."""
