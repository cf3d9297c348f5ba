"""What the functions run on, and what is built for it."""

RUNTIME = "python3.11"
"""The Python the tests run on. Bytecode is made for it."""
ARCHITECTURE = "x86_64"
