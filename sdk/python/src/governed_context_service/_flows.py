"""Agentflows in code: typed definitions that make the document of an agentflow."""

from __future__ import annotations

import json
import re
import types as python_types
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints, overload

from . import types as t

T = TypeVar("T")
U = TypeVar("U")

#: The reserved words of CEL, which are no names of fields.
_RESERVED = frozenset("as break const continue else false for function if import in let loop namespace null package return true var void while".split())
#: Names that mean something else in templates.
_TAKEN = frozenset("goal inputs runtime documents outputs outputs_by_id previous actions execution item index carry true false nil null empty blank".split())


class Expression(str):
    """A CEL expression, which :func:`cel` makes."""


class Reference:
    """A value that a run will have: inputs, an output, or a part of one. Its fields are those of its schema."""

    __slots__ = ("_cel", "_liquid", "_schema", "_is_inputs")

    def __init__(self, cel: str, liquid: str, schema: Any = None, is_inputs: bool = False) -> None:
        self._cel, self._liquid, self._schema, self._is_inputs = cel, liquid, schema, is_inputs

    def __getattr__(self, name: str) -> Reference:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._field(name)

    def __getitem__(self, name: str | int) -> Reference:
        return self._field(name)

    def _field(self, name: str | int) -> Reference:
        schema = _schema_of_field(self._schema, name, self._cel)
        # In templates, ``inputs`` lacks the ``runtime_inputs``, and the name alone has both.
        is_own = self._is_inputs and isinstance(name, str) and _is_name(name) and name not in _TAKEN
        return Reference(_path(self._cel, name), str(name) if is_own else _path(self._liquid, name), schema)

    def __str__(self) -> str:
        raise TypeError("a reference has no value yet; give it to cel() or liquid()")

    def __iter__(self) -> Any:
        raise TypeError("a reference has no value yet; use a `map` step for its items")


class Node(Generic[T]):
    """An agent or a step of a flow. ``output`` refers to what it returns."""

    def __init__(self, definition: Mapping[str, Any], schema: Any) -> None:
        self.definition = definition
        id = str(definition["_id"])
        #: At run time a :class:`Reference`, with the type of the value for the type checker.
        self.output = cast(T, Reference(_path("outputs", id), _path("outputs_by_id", id), schema))

    def item(self, type: type[U]) -> U:
        """The item of a ``map`` step, in its part."""
        name = str(self.definition.get("as", "item"))
        return cast(U, Reference(name, name, schema_of(type)))

    def carry(self, type: type[U]) -> U:
        """What the next round of a ``loop`` step knows, in its part."""
        return cast(U, Reference("carry", "carry", schema_of(type)))

    @property
    def index(self) -> int:
        """The number of the item or the round, from 0."""
        return cast(int, Reference("index", "index", {"type": "integer"}))


def cel(*parts: object) -> Expression:
    """A CEL expression: texts are CEL, and references and numbers are written into it: ``cel(reader.output.net, " > ", 100)``."""
    return Expression("".join(_cel_text(part) for part in parts))


def _cel_text(part: object) -> str:
    if isinstance(part, Reference):
        return part._cel
    if isinstance(part, Expression):
        return f"({part})"
    if isinstance(part, str):
        return part
    if isinstance(part, (bool, int, float)) or part is None:
        return json.dumps(part)
    raise TypeError(f"cel: {part!r} must be a text, a reference, an expression or a number")


def liquid(*parts: object) -> str:
    """A Liquid template, such as a prompt: texts are written as they are: ``liquid("Read the invoice: ", order.text)``."""
    return "".join(_liquid_text(part) for part in parts)


def _liquid_text(part: object) -> str:
    if isinstance(part, Reference):
        return f"{{{{ {part._liquid} }}}}"
    if isinstance(part, Expression):
        raise TypeError("liquid: a template cannot compute expressions; compute the value in a `set` step and refer to it")
    if isinstance(part, (str, int, float)):
        return str(part)
    raise TypeError(f"liquid: {part!r} must be a text or a reference")


def inputs(type: type[T]) -> T:
    """Refers to the inputs of a run, which ``agentflow(…, inputs=…)`` requires. Their type is a class with annotations."""
    return cast(T, Reference("inputs", "inputs", schema_of(type), is_inputs=True))


@overload
def agent(definition: t.AgentInput) -> Node[str]: ...
@overload
def agent(definition: t.AgentInput, output: type[T]) -> Node[T]: ...
def agent(definition: t.AgentInput, output: Any = None) -> Node[Any]:
    """An agent of a flow, with the fields of the API. ``output`` is the class of its output, from which its ``output_schema`` is made."""
    if output is None:
        return Node(definition, definition.get("output_schema") or {"type": "string"})
    schema = schema_of(output)
    return Node({**definition, "output_schema": schema}, schema)


@overload
def step(definition: t.FlowStep) -> Node[Any]: ...
@overload
def step(definition: t.FlowStep, output: type[T]) -> Node[T]: ...
def step(definition: t.FlowStep, output: Any = None) -> Node[Any]:
    """A step of a flow, with the fields of the API. ``output`` is the class of what it returns, which is used to check references."""
    return Node(definition, schema_of(output) if output is not None else _schema_returned_by(definition))


def _schema_returned_by(definition: t.FlowStep) -> Any:
    if definition["type"] == "ask":
        return definition["form"]
    if definition["type"] == "set":
        return {"type": "object", "properties": {name: {} for name in definition["values"]}}
    if definition["type"] == "branch":
        return {"type": "object", "properties": {"case": {"type": "string"}}}
    return None


def agentflow(definition: t.AgentflowInput, *, nodes: Sequence[Node[Any]], inputs: type[Any] | None = None) -> t.AgentflowInput:
    """The document of an agentflow, for ``platform.agentflows.create``. The first of ``nodes`` runs first, unless ``initialAgent`` names another one. ``gcs push`` takes the variable ``flow`` of a file."""
    definitions = [node.definition for node in nodes]
    document: dict[str, Any] = {
        **({"initialAgent": definitions[0]["_id"]} if definitions else {}),
        **definition,
        **({"input_schema": schema_of(inputs)} if inputs is not None else {}),
        "agents": [each for each in definitions if "type" not in each],
        "steps": [each for each in definitions if "type" in each],
    }
    return cast(t.AgentflowInput, document)


_SIMPLE: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(type: Any) -> dict[str, Any]:
    """The JSON Schema of a type: a text, number, boolean, list, dictionary, ``Literal``, union, or a class with annotations, such as a dataclass or a ``TypedDict``. Objects of a class require all of its fields, and have no others."""
    return _schema(type, ())


def _schema(type: Any, around: tuple[Any, ...]) -> dict[str, Any]:
    origin, arguments = get_origin(type), get_args(type)
    if type is Any:
        return {}
    if type in _SIMPLE:
        return {"type": _SIMPLE[type]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, python_types.UnionType):
        return {"anyOf": [_schema(each, around) for each in arguments]}
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0], around)}
    if origin is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": _schema(arguments[1], around)}
    if type in around:
        raise TypeError(f"{type.__name__} must not contain itself")
    fields = get_type_hints(type) if origin is None and hasattr(type, "__annotations__") else {}
    if not fields:
        raise TypeError(f"{type!r} must be a text, number, boolean, list, dictionary, Literal, union or a class with annotations")
    properties = {name: _schema(each, (*around, type)) for name, each in fields.items()}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _schema_of_field(schema: Any, name: str | int, where: str) -> Any:
    if not isinstance(schema, dict) or not isinstance(schema.get("type"), str):
        return None
    kind, properties = schema["type"], schema.get("properties")
    if kind == "array" and isinstance(name, int):
        return schema.get("items")
    if kind == "object" and isinstance(properties, dict):
        if name in properties:
            return properties[name]
        raise AttributeError(f"{where} has no field {name!r}; its schema has {', '.join(properties) or 'none'}")
    if kind == "object":
        return schema.get("additionalProperties")
    raise AttributeError(f"{where} is of the type {kind}, so it has no field {name!r}")


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None and text not in _RESERVED


def _path(path: str, name: str | int) -> str:
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if _is_name(name) else f"{path}[{json.dumps(name)}]"
