"""In which order to restart the nodes of a cluster."""

from emulator.cluster_image.image import ClusterImage


def restart_order(image: ClusterImage) -> list[int]:
    """Return the nodes that are up, in the order in which to restart them.

    Controllers come first and the active one last of them, so that the quorum elects a leader once;
    then the brokers by id, with ZooKeeper the controller last. A combined node is a controller.
    """
    brokers = [broker.id for broker in image.brokers if broker.up]
    if image.quorum is None:
        holder = image.controller.broker if image.controller else None
        return sorted(brokers, key=lambda broker: (broker == holder, broker))
    active = image.quorum.leader
    controllers = [
        controller.id
        for controller in image.quorum.controllers
        if controller.up and controller.voter
    ]
    controllers.sort(key=lambda number: (number == active, number))
    return [*controllers, *(broker for broker in brokers if broker not in controllers)]
