"""The source of both clients: sdk/generate.mjs writes ``_sync`` from it, without ``async`` and ``await``."""
