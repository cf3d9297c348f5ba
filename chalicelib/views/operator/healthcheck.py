"""How the service's health looks to an administrator, in the members deployed clients ask for.

They describe an installation of another kind, and a client takes all but `true` for a fault:
so a check of something this service does not have is passed. Paths and names of what runs
the service stand nowhere in it.
"""

from __future__ import annotations

import sys
from typing import Annotated, Literal, NotRequired, TypedDict
from urllib.parse import urlsplit

from chalicelib.domain.addresses import EMAIL_DOMAINS
from chalicelib.services.operator.healthcheck import Health, KeyHealth
from chalicelib.settings import settings as environment
from chalicelib.tables.settings import Setting
from chalicelib.views.operator.settings import VERSION
from chalicelib.views.shapes import Shape

Address = Annotated[str, Shape({"format": "uri"})]
MOOT: Literal[True] = True
"""A check of what there is none of here."""
NO_SENDER = "No address is configured that mails come from."
NO_HTTPS = "The address of the service does not begin with https."


class RuntimeJson(TypedDict):
    phpVersion: str


class EnvironmentJson(TypedDict):
    gnupg: bool
    phpVersion: bool
    nextMinPhpVersion: bool
    pcre: bool
    mbstring: bool
    intl: bool
    image: bool
    tmpWritable: bool
    logWritable: bool
    info: RuntimeJson


class ConfigFileJson(TypedDict):
    app: bool
    passbolt: bool


class CoreInfoJson(TypedDict):
    fullBaseUrl: Address


class CoreJson(TypedDict):
    cache: bool
    debugDisabled: bool
    salt: bool
    fullBaseUrl: bool
    validFullBaseUrl: bool
    fullBaseUrlReachable: bool
    info: CoreInfoJson


class SslJson(TypedDict):
    peerValid: bool
    hostValid: bool
    notSelfSigned: bool
    info: NotRequired[str]


class MailHealthJson(TypedDict):
    isEnabled: bool
    areEndpointsDisabled: bool
    isInDb: bool
    source: str
    errorMessage: Literal[False] | str


class KeyPlacesJson(TypedDict):
    gpgHome: str
    gpgKeyPrivate: str
    keys: dict[str, str]


class KeyHealthJson(TypedDict):
    lib: bool
    gpgHome: bool
    gpgHomeWritable: bool
    gpgKeyNotDefault: bool
    gpgKey: bool
    gpgKeyPublic: bool
    gpgKeyPrivate: bool
    gpgKeyPublicReadable: bool
    gpgKeyPrivateReadable: bool
    gpgKeyPublicBlock: bool
    gpgKeyPrivateBlock: bool
    gpgKeyPublicFingerprint: bool
    gpgKeyPrivateFingerprint: bool
    gpgKeyPublicInKeyring: bool
    gpgKeyPublicEmail: bool
    canEncrypt: bool
    canDecrypt: bool
    canSign: bool
    canEncryptSign: bool
    canDecryptVerify: bool
    canVerify: bool
    isPublicServerKeyGopengpgCompatible: bool
    isPrivateServerKeyGopengpgCompatible: bool
    info: KeyPlacesJson


class VersionsJson(TypedDict):
    remoteVersion: None
    currentVersion: str


class RegistrationHealthJson(TypedDict):
    isSelfRegistrationPluginEnabled: bool
    selfRegistrationProvider: str | None
    isRegistrationPublicRemovedFromPassbolt: bool


class ApplicationJson(TypedDict):
    info: VersionsJson
    latestVersion: None
    schema: bool
    sslForce: bool
    sslFullBaseUrl: bool
    seleniumDisabled: bool
    robotsIndexDisabled: bool
    registrationClosed: RegistrationHealthJson
    hostAvailabilityCheckEnabled: bool
    jsProd: bool
    emailNotificationEnabled: bool
    configPath: str


class DatabaseInfoJson(TypedDict):
    tablesCount: int


class DatabaseJson(TypedDict):
    supportedBackend: bool
    connect: bool
    defaultContent: bool
    tablesCount: bool
    info: DatabaseInfoJson


class HealthJson(TypedDict):
    environment: EnvironmentJson
    configFile: ConfigFileJson
    core: CoreJson
    ssl: SslJson
    smtpSettings: MailHealthJson
    gpg: KeyHealthJson
    application: ApplicationJson
    database: DatabaseJson


def health(found: Health) -> HealthJson:
    return {
        "environment": _environment(),
        "configFile": {"app": _has_address(), "passbolt": _has_place_of_keys()},
        "core": _core(),
        "ssl": _ssl(),
        "smtpSettings": _mail(has_relay=found.has_relay),
        "gpg": _key(found.key),
        "application": _application(found.registration),
        "database": _database(found),
    }


def _environment() -> EnvironmentJson:
    return {
        "gnupg": MOOT,
        "phpVersion": MOOT,
        "nextMinPhpVersion": MOOT,
        "pcre": MOOT,
        "mbstring": MOOT,
        "intl": MOOT,
        "image": MOOT,
        "tmpWritable": MOOT,
        "logWritable": MOOT,
        "info": {"phpVersion": "Python {}.{}.{}".format(*sys.version_info)},
    }


def _core() -> CoreJson:
    return {
        "cache": MOOT,
        "debugDisabled": MOOT,
        "salt": MOOT,
        "fullBaseUrl": bool(environment.base_url),
        "validFullBaseUrl": _has_address(),
        "fullBaseUrlReachable": MOOT,  # the service calls nobody, not even itself
        "info": {"fullBaseUrl": environment.base_url},
    }


def _ssl() -> SslJson:
    """Certificates are the gateway's; without https there is none."""
    is_https = _is_https()
    checks: SslJson = {"peerValid": is_https, "hostValid": is_https, "notSelfSigned": is_https}
    return checks if is_https else {**checks, "info": NO_HTTPS}


def _mail(*, has_relay: bool) -> MailHealthJson:
    is_enabled = has_relay or bool(environment.mail_sender)
    return {
        "isEnabled": is_enabled,
        "areEndpointsDisabled": False,
        "isInDb": has_relay,
        "source": "database" if has_relay else "env",
        "errorMessage": False if is_enabled else NO_SENDER,
    }


def _key(found: KeyHealth) -> KeyHealthJson:
    has_place = _has_place_of_keys()
    return {
        "lib": MOOT,
        "gpgHome": MOOT,
        "gpgHomeWritable": MOOT,
        "gpgKeyNotDefault": MOOT,
        "gpgKey": has_place,
        "gpgKeyPublic": has_place,
        "gpgKeyPrivate": has_place,
        "gpgKeyPublicReadable": found.is_readable,
        "gpgKeyPrivateReadable": found.is_readable,
        "gpgKeyPublicBlock": found.is_key,
        "gpgKeyPrivateBlock": found.is_key,
        "gpgKeyPublicFingerprint": found.is_key,
        "gpgKeyPrivateFingerprint": found.is_key,
        "gpgKeyPublicInKeyring": found.is_key,
        "gpgKeyPublicEmail": found.has_address,
        "canEncrypt": found.can_seal,
        "canDecrypt": found.can_open,
        "canSign": found.can_seal,
        "canEncryptSign": found.can_seal,
        "canDecryptVerify": found.can_verify,
        "canVerify": found.can_verify,
        "isPublicServerKeyGopengpgCompatible": found.is_key,
        "isPrivateServerKeyGopengpgCompatible": found.is_key,
        "info": {"gpgHome": "", "gpgKeyPrivate": "", "keys": dict(found.stands)},
    }


def _application(registration: Setting | None) -> ApplicationJson:
    return {
        "info": {"remoteVersion": None, "currentVersion": VERSION},
        "latestVersion": None,
        "schema": MOOT,
        "sslForce": _is_https(),
        "sslFullBaseUrl": _is_https(),
        "seleniumDisabled": MOOT,
        "robotsIndexDisabled": MOOT,
        "registrationClosed": {
            "isSelfRegistrationPluginEnabled": True,
            "selfRegistrationProvider": None if registration is None else EMAIL_DOMAINS,
            "isRegistrationPublicRemovedFromPassbolt": MOOT,
        },
        "hostAvailabilityCheckEnabled": False,  # nobody asks the hosts of addresses
        "jsProd": MOOT,
        "emailNotificationEnabled": bool(environment.mail_sender),
        "configPath": "",
    }


def _database(found: Health) -> DatabaseJson:
    return {
        "supportedBackend": MOOT,
        "connect": found.is_storage_in_reach,
        "defaultContent": found.has_signing_keys,
        "tablesCount": found.is_storage_in_reach,
        "info": {"tablesCount": found.table_count},
    }


def _has_address() -> bool:
    address = urlsplit(environment.base_url)
    return address.scheme in ("http", "https") and bool(address.hostname)


def _is_https() -> bool:
    return _has_address() and environment.base_url.startswith("https://")


def _has_place_of_keys() -> bool:
    return environment.key_folder is not None or environment.openpgp_secret is not None
