"""Readers and writers of embedding files, one module per family of formats.

A reader takes a path and a `Wanted` and returns `Rows`; a writer takes an embedding and the path of
a temporary file. None of them builds an `Embedding`.
"""
