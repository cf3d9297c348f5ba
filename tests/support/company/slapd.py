"""An OpenLDAP server on the loopback, in a folder of its own, for as long as a test takes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.company.certificates import Certificate

PROGRAM = shutil.which("slapd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/lib/openldap")
SCHEMAS = Path("/etc/ldap/schema")
MODULES = Path("/usr/lib/ldap")
SECRET = "the password of the root"
"""Of who may do anything in each of the databases."""

_SCHEMA_OF_THE_OTHER_KIND = """
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.2.2 NAME 'whenCreated' EQUALITY generalizedTimeMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.2.3 NAME 'whenChanged' EQUALITY generalizedTimeMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.24 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.221 NAME 'sAMAccountName' EQUALITY caseIgnoreMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.656 NAME 'userPrincipalName' EQUALITY caseIgnoreMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
objectclass ( 1.2.840.113556.1.5.9 NAME 'user' SUP inetOrgPerson STRUCTURAL MAY ( objectGUID $
  whenCreated $ whenChanged $ userAccountControl $ sAMAccountName $ userPrincipalName ) )
objectclass ( 1.2.840.113556.1.3.30 NAME 'computer' SUP user STRUCTURAL )
objectclass ( 1.2.840.113556.1.5.8 NAME 'group' SUP top STRUCTURAL MUST cn MAY ( member $
  objectGUID $ whenCreated $ whenChanged $ sAMAccountName $ description ) )
"""
"""What the tests need of Active Directory, whose own schema is much larger."""


@dataclass(frozen=True)
class Server:
    port: int
    ldaps_port: int


def why_not() -> str | None:
    """Why no server can be started here, if so."""
    if PROGRAM is None or not (SCHEMAS / "inetorgperson.schema").exists():
        return "slapd is not installed (Debian: apt-get install slapd)"
    return None


@contextmanager
def started(
    *suffixes: str, certificate: Certificate | None = None, limits: str = ""
) -> Iterator[Server]:
    """A server with an empty database for each suffix; it speaks TLS with a certificate."""
    folder = Path(tempfile.mkdtemp(prefix="keyhaven-slapd-"))
    server = Server(*_free_ports())
    (folder / "slapd.conf").write_text(_configuration(folder, suffixes, certificate, limits))
    urls = [f"ldap://127.0.0.1:{server.port}"]
    urls += [f"ldaps://127.0.0.1:{server.ldaps_port}"] if certificate else []
    assert PROGRAM is not None
    command = [PROGRAM, "-f", folder / "slapd.conf", "-h", " ".join(urls), "-d", "0"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_for(process, server.port, folder / "log")
        yield server
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)


def _configuration(
    folder: Path, suffixes: tuple[str, ...], certificate: Certificate | None, limits: str
) -> str:
    (folder / "other.schema").write_text(_SCHEMA_OF_THE_OTHER_KIND)
    lines = [
        *(f"include {SCHEMAS}/{name}.schema" for name in ("core", "cosine", "inetorgperson")),
        f"include {folder}/other.schema",
        *([f"modulepath {MODULES}", "moduleload back_mdb"] if MODULES.exists() else []),
        "sizelimit unlimited",
        *(certificate.written_to(folder) if certificate else []),
    ]
    for position, suffix in enumerate(suffixes):
        database = folder / str(position)
        database.mkdir()
        lines += [
            "database mdb",
            f'suffix "{suffix}"',
            f'rootdn "cn=root,{suffix}"',
            f'rootpw "{SECRET}"',
            f"directory {database}",
            "dbnosync",
            "maxsize 67108864",
            "index objectClass eq",
            f'access to * by dn.exact="cn=reader,{suffix}" read by anonymous auth by * none',
            limits,
        ]
    return "\n".join(lines) + "\n"


def _free_ports() -> list[int]:
    probes = [socket.socket() for _ in range(2)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(1000):
        if process.poll() is not None:
            raise RuntimeError(f"slapd did not start: {log.read_text()}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise RuntimeError("slapd does not answer")
