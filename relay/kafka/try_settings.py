"""Holds Kafka settings against the client itself, before anything is asked of the cluster."""

from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from relay.config import Config
from relay.errors import ConfigError
from relay.kafka.errors import kafka_error
from relay.kafka.settings import admin_settings, member_settings, producer_settings

_ANY_BYTES = 1_000_000


def try_settings(config: Config) -> None:
    """Make one client of each kind and throw it away: they check names, values and combinations.

    Args:
        config: The configuration.

    Raises:
        ConfigError: With what each client said; it names settings, and a value only where it is no secret's.
    """
    clients: tuple[tuple[Callable[[dict[str, Any]], object], dict[str, Any]], ...] = (
        (AdminClient, admin_settings(config)),
        (Consumer, member_settings(config)),
        (Producer, producer_settings(config, config.identity, _ANY_BYTES, _ANY_BYTES)),
    )
    faults = []
    for make, settings in clients:
        try:
            make(settings)
        except KafkaException as exception:
            faults.append(f"kafka: expected settings that the client takes, got: {kafka_error(exception).str()}")
        except (TypeError, ValueError):
            faults.append("kafka: expected settings that the client takes, got one of another type")
    if faults:
        raise ConfigError(list(dict.fromkeys(faults)))
