"""A storm on AWS's own engine: servers that die, storage that fails, many people at once.

`world` is what there is before, `server` one process that serves it, `fleet` all of them,
`people` who send requests, and `ledger` what was sent and answered, by which every answer and
in the end everything that is stored is judged.
"""
