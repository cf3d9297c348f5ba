"""The local cloud: AWS as one process on this machine, to try whole stacks in. Never shipped."""
