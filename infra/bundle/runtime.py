"""Which Python and which processor the functions run on."""

RUNTIME = "python3.12"
"""The Python of the functions. Bytecode is made by it, libraries are fetched for it."""
ARCHITECTURES = {"x86_64": "x86_64", "arm64": "aarch64"}
"""What Lambda calls a processor, and what its wheels do."""
ARCHITECTURE = "x86_64"
"""That of the functions. The layer can be made for any (ADR 52); tests run on this one."""
