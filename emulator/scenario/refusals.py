"""Statements that cannot be done, and why: an error's name and a sentence."""

from emulator.releases.profiles import Profile


class RefusedError(Exception):
    """A statement that cannot be done: ``name`` is Kafka's or ZooKeeper's name for the error."""

    def __init__(self, name: str, message: str) -> None:
        """Refuse under ``name`` with a sentence."""
        super().__init__(message)
        self.name = name


def needs(profile: Profile, feature: str, what: str, hint: str = "") -> None:
    """Refuse what a later release brought, and say which."""
    if not profile.has(feature):
        since = f"since {profile.first_with(feature)}, not in {profile.version}"
        raise RefusedError("UNSUPPORTED_VERSION", f"{what} {since}{hint}.")
