"""The company whose directory is read here."""

from tests.support.company.fixtures import active_directory, company

__all__ = ["active_directory", "company"]
