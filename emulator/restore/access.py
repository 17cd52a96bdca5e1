"""Listeners, users, quotas and the authorizer of a cluster that starts from an image."""

from emulator.cluster_image.acls import authorizer_of
from emulator.cluster_image.image import DEFAULT, ClientQuota, ClusterImage
from emulator.common import scram
from emulator.releases.config import AUTHORIZER_CLASS, Endpoint, Quota, Settings, authorizers


def grant(settings: Settings, image: ClusterImage) -> None:
    """Give a cluster what its image, which is complete, says of access.

    What ``settings`` says of an authorizer already wins. One that is not emulated is left out.
    Nobody knows the passwords of the users.
    """
    configs = authorizer_of(image)
    known = authorizers(settings.version, in_kraft_mode=image.mode == "kraft")
    if configs.get(AUTHORIZER_CLASS) in known:
        settings.defaults = configs | settings.defaults
    settings.endpoints = {
        broker.id: [
            Endpoint(own.name, own.host or "", own.port or 0, own.protocol or own.name)
            for own in broker.listeners
        ]
        for broker in image.brokers
        if broker.listeners
    }
    settings.scram = {
        user.name: {mechanism: scram.unknown(count) for mechanism, count in user.iterations.items()}
        for user in image.users
    }
    settings.quotas = [Quota(_entity(quota), dict(quota.values)) for quota in image.quotas]


def _entity(quota: ClientQuota) -> list[tuple[str, str | None]]:
    parts = {"client-id": quota.client_id, "ip": quota.ip, "user": quota.user}
    return [(kind, None if name == DEFAULT else name) for kind, name in parts.items() if name]
