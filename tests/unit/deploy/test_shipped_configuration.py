"""What is shipped as configuration is taken by the relay: the chart's values, the file to begin with."""

from pathlib import Path
from typing import Any

import yaml

from relay.config import load_config, parse_config

REPOSITORY = Path(__file__).resolve().parents[3]
CHART = REPOSITORY / "helm" / "ethogram-relay"


def values() -> dict[str, Any]:
    """Read the chart's default values."""
    tree: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    return tree


def test_default_values_are_a_configuration_of_the_relay() -> None:
    """`config:` is the relay's own YAML, read by its own parser, with the instance id that the pod sets."""
    config = parse_config(values()["config"], {"RELAY_INSTANCE_ID": "relay-0"})
    assert config.identity == "ethogram-relay/relay-0"
    assert config.http.host == "0.0.0.0"  # noqa: S104 - a pod's probes come from outside of it


def test_grace_period_is_longer_than_the_drain() -> None:
    """A stop must be able to end the last transaction and the own run before the kubelet kills the process."""
    config = parse_config(values()["config"], {})
    assert values()["terminationGracePeriodSeconds"] * 1000 > config.relay.drain_timeout


def test_the_file_to_begin_with_is_the_one_in_the_readme() -> None:
    """`deploy/relay.yaml` is read without a fault, and the README shows it to the letter."""
    file = REPOSITORY / "deploy" / "relay.yaml"
    assert load_config(file, {}).identity == "ethogram-relay/relay-0"
    assert f"```yaml\n{file.read_text(encoding='utf-8')}```" in (REPOSITORY / "README.md").read_text(encoding="utf-8")
