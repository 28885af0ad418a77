"""The fields of Kubernetes' objects that scripts/kubernetes uses, by the API's reference for v1 and apps/v1, and a check
of manifests against them: what is misspelt or of another type, the API server refuses or, worse, leaves out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from checks import REPOSITORY, check, need

KUBERNETES = REPOSITORY / "scripts/kubernetes"
Rule = Any  # a type, a set of words, a pattern, a list of one rule, a dict of fields ("*" for any), or a function


def documents(name: str) -> list[dict]:
    return list(need("yaml").safe_load_all((KUBERNETES / name).read_text()))


NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
PATH = re.compile(r"/[^:]*")
QUANTITY = re.compile(r"\d+(m|[KMGT]i?)?")
LABELS = {"*": re.compile(r"[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?")}
RESOURCES = {"cpu": QUANTITY, "memory": QUANTITY, "ephemeral-storage": QUANTITY}
METADATA = {"name!": NAME, "namespace": NAME, "labels": LABELS}
EXEC = {"exec!": {"command!": [str]}}
PROBE = {**EXEC, "periodSeconds": int, "timeoutSeconds": int, "failureThreshold": int, "initialDelaySeconds": int}
SECURITY = {"privileged": bool, "readOnlyRootFilesystem": bool, "allowPrivilegeEscalation": bool,
            "capabilities": {"drop": [str], "add": [str]}}  # fmt: skip
CONTAINER = {
    "name!": NAME, "image!": str, "imagePullPolicy": {"Always", "IfNotPresent", "Never"}, "command": [str],
    "args": [str], "envFrom": [{"configMapRef": {"name!": NAME}}], "env": [{"name!": str, "value": str}],
    "securityContext": SECURITY,
    "volumeMounts": [{"name!": NAME, "mountPath!": PATH, "readOnly": bool,
                      "mountPropagation": {"None", "HostToContainer", "Bidirectional"}}],
    "startupProbe": PROBE, "readinessProbe": PROBE, "livenessProbe": PROBE, "lifecycle": {"preStop": EXEC},
    "resources": {"requests": RESOURCES, "limits": RESOURCES},
}  # fmt: skip
POD = {
    "automountServiceAccountToken": bool, "enableServiceLinks": bool, "priorityClassName": str,
    "tolerations": [{"operator": {"Exists", "Equal"}, "key": str, "value": str, "effect": str}],
    "nodeSelector": LABELS, "terminationGracePeriodSeconds": int, "shareProcessNamespace": bool,
    "securityContext": {"runAsNonRoot": bool, "runAsUser": int, "seccompProfile": {"type!": {"RuntimeDefault"}}},
    "initContainers": [CONTAINER], "containers!": [CONTAINER],
    "volumes": [{"name!": NAME, "hostPath": {"path!": PATH, "type": {"Directory", "DirectoryOrCreate"}},
                 "emptyDir": {"sizeLimit": QUANTITY}}],
}  # fmt: skip
KINDS: dict[tuple[str, str], Rule] = {
    ("v1", "Namespace"): {"metadata!": METADATA},
    ("v1", "ConfigMap"): {"metadata!": METADATA, "data": {"*": str}},
    ("v1", "Pod"): {"metadata!": METADATA, "spec!": POD},
    ("apps/v1", "DaemonSet"): {"metadata!": METADATA, "spec!": {
        "selector!": {"matchLabels!": LABELS},
        "updateStrategy": {"type!": {"RollingUpdate", "OnDelete"}, "rollingUpdate": {"maxUnavailable": int}},
        "template!": {"metadata!": {"labels!": LABELS}, "spec!": POD},
    }},
}  # fmt: skip


def check_value(value: Any, rule: Rule, at: str) -> None:
    if isinstance(rule, dict):
        check(isinstance(value, dict), f"{at} has no fields: {value!r}")
        fields = {name.rstrip("!"): field for name, field in rule.items()}
        for name in (name[:-1] for name in rule if name.endswith("!")):
            check(name in value, f"{at} lacks {name}")
        for name, part in value.items():
            check(name in fields or "*" in fields, f"{at} has an unknown field {name}")
            check_value(part, fields.get(name, fields.get("*")), f"{at}.{name}")
    elif isinstance(rule, list):
        check(isinstance(value, list), f"{at} is no list: {value!r}")
        for number, part in enumerate(value):
            check_value(part, rule[0], f"{at}[{number}]")
    elif isinstance(rule, set):
        check(value in rule, f"{at} is {value!r}, not one of {sorted(rule)}")
    elif isinstance(rule, re.Pattern):
        check(isinstance(value, str) and rule.fullmatch(value) is not None, f"{at}: {value!r}")
    else:
        check(type(value) is rule, f"{at} is {value!r}, no {rule.__name__}")


def check_container(container: dict, volumes: set[str], at: str) -> None:
    """What no schema says, and the API server refuses all the same."""
    for mount in container.get("volumeMounts", []):
        check(mount["name"] in volumes, f"{at}: no volume {mount['name']}")
        privileged = container.get("securityContext", {}).get("privileged", False)
        check(mount.get("mountPropagation") != "Bidirectional" or privileged, f"{at}: Bidirectional takes privileged")


def check_object(part: dict, at: str) -> None:
    kind = (part.get("apiVersion", ""), part.get("kind", ""))
    check(kind in KINDS, f"{at}: no such kind {kind}")
    rule = {"apiVersion!": str, "kind!": str, **KINDS[kind]}
    check_value(part, rule, f"{at}: {kind[1]}")
    pod = part["spec"]["template"]["spec"] if kind[1] == "DaemonSet" else part.get("spec", {})
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    containers = pod.get("initContainers", []) + pod.get("containers", [])
    names = [container["name"] for container in containers]
    check(len(names) == len(set(names)), f"{at}: two containers of a name: {names}")
    for container in containers:
        check_container(container, volumes, f"{at}: {container['name']}")
