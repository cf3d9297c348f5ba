"""Where the service runs, with which limits and switches, and their defaults.

Read once, from the environment.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class Probe(NamedTuple):
    """A request by which the prober asks a version of a function that is to be released."""

    method: str
    path: str
    version: str

    @property
    def of_what_runs(self) -> Probe:
        """The same, asked of the version that people reach now."""
        return self._replace(version=f"{self.version.rpartition(':')[0]}:live")


class Settings(NamedTuple):
    base_url: str
    """Public address of the tenant, without trailing slash: in tokens, links and cookies."""
    dialect: str
    """`specification` or `clients`; see `chalicelib/dialect.py`."""
    endpoint_group: str | None
    """The one group this process serves; all of them where none is named."""
    table_prefix: str
    region: str
    dynamodb_endpoint: str | None
    key_folder: Path | None
    """Where private keys lie on one machine; in the cloud they are secrets."""
    avatar_bucket: str | None
    avatar_folder: Path | None
    """Where avatars lie on one machine, in a folder of their own; in the cloud in a bucket."""
    answer_bucket: str | None
    """Where answers lie that are larger than `answer_limit`; without it, they are refused."""
    export_bucket: str | None
    """Where logs are left for auditors, day by day; without it, they are not."""
    openpgp_secret: str | None
    jwt_secret: str | None
    parallel_calls: int
    """How many storage calls of one step run side by side; 1 runs them in turn."""
    answer_limit: int
    """Most bytes of one answer; Lambda cuts at 6 MB, a plain server does not (0)."""
    login_limit: int
    """Failed sign-ins, and begun ones, a source may have a minute before it has to wait; 0 switches
    it off."""
    mfa_attempts: int
    """Wrong codes a session may have; with one more it ends. Below 1, it never does."""
    get_logout: bool
    """Whether GET /auth/logout.json signs out, as the specification says."""
    healthcheck: bool
    """Whether GET /healthcheck.json answers, which it does to administrators alone."""
    reading_days: int
    """For how many days logs tell who read a secret; 0 means for ever."""
    tags_are_read_only: bool
    """Whether tags are shown, and not set, renamed or deleted."""
    asks_own_machine: bool
    """Whether a directory may be on this machine, as where everything is served by one."""
    support_address: str
    mail_sender: str
    """The address mails come from; where there is none, none leave."""
    probes: tuple[Probe, ...]
    """What the prober asks before a release."""
    watched: tuple[Probe, ...]
    """What the prober asks every few minutes in place of the tenant's address, which it does not
    reach; nothing where it does."""
    traces: bool
    """Whether the log has the spans of each request."""
    function_name: str | None
    """What Lambda calls the function this process runs for; on one machine there is none."""

    @classmethod
    def from_environment(cls) -> Settings:
        env = os.environ
        keys, avatars = env.get("KEY_FOLDER"), env.get("AVATAR_FOLDER")
        exports = env.get("LOG_EXPORT", "no")
        return cls(
            base_url=env.get("BASE_URL", "http://127.0.0.1:8000").rstrip("/"),
            dialect=env.get("DIALECT", "specification"),
            endpoint_group=env.get("ENDPOINT_GROUP") or None,
            table_prefix=env.get("TABLE_PREFIX", "keyhaven-"),
            region=env.get("AWS_REGION", "eu-west-1"),
            dynamodb_endpoint=env.get("DYNAMODB_ENDPOINT") or None,
            key_folder=Path(keys) if keys else None,
            avatar_bucket=env.get("AVATAR_BUCKET") or None,
            avatar_folder=Path(avatars) if avatars else None,
            answer_bucket=env.get("ANSWER_BUCKET") or None,
            export_bucket=(env.get("EXPORT_BUCKET") or None) if exports == "yes" else None,
            openpgp_secret=env.get("OPENPGP_SECRET") or None,
            jwt_secret=env.get("JWT_SECRET") or None,
            parallel_calls=int(env.get("PARALLEL_CALLS", "8")),
            answer_limit=int(env.get("ANSWER_LIMIT", "6000000")),
            login_limit=int(env.get("LOGIN_LIMIT", "60")),
            mfa_attempts=int(env.get("MFA_ATTEMPTS", "4")),
            get_logout=env.get("GET_LOGOUT", "on") != "off",
            healthcheck=env.get("HEALTHCHECK", "on") != "off",
            reading_days=int(env.get("READING_DAYS", "0")),
            tags_are_read_only=env.get("TAGS", "on") == "read-only",
            asks_own_machine=env.get("DIRECTORY_ON_OWN_MACHINE", "off") == "on",
            support_address=env.get("SUPPORT_ADDRESS", ""),
            mail_sender=env.get("MAIL_SENDER", ""),
            probes=_probes(env.get("PROBES", "")),
            watched=_probes(env.get("WATCHED", "")),
            traces=env.get("TRACES", "no") == "yes",
            function_name=env.get("AWS_LAMBDA_FUNCTION_NAME") or None,
        )


def _probes(said: str) -> tuple[Probe, ...]:
    return tuple(Probe(*each.split()) for each in said.split(";") if each)


settings = Settings.from_environment()
