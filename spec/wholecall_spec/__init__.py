"""The source: the tables, what they may say, and the reader that refuses what they may not.

This package needs nothing but the standard library. `load()` reads the packaged tables; everything else
of the project is derived from them or compared with them. The types live in `wholecall_spec.table`.
"""
