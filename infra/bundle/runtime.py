"""Which Python and which processor the functions run on."""

RUNTIME = "python3.12"
"""The Python of the functions. Bytecode is made by it, libraries are fetched for it."""
ARCHITECTURE = "x86_64"
