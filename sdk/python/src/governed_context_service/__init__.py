"""The client of the Governed Context and Workflow Service: context gateway and workflow platform.

The module ``types`` has a type for each schema of the API reference.
"""

from ._async.client import AsyncClient
from ._async.gateway import AsyncGateway
from ._async.pages import async_paginate
from ._async.platform import AsyncPlatform
from ._errors import ServiceError
from ._flows import Expression, Node, Reference, agent, agentflow, cel, inputs, liquid, schema_of, step
from ._multipart import FileToUpload
from ._options import CallOptions
from ._pages import Page
from ._retry import Retry
from ._sync.client import Client
from ._sync.gateway import Gateway
from ._sync.pages import paginate
from ._sync.platform import Platform
from .types import ConnectionInfo

__all__ = [
    "AsyncClient",
    "AsyncGateway",
    "AsyncPlatform",
    "CallOptions",
    "Client",
    "ConnectionInfo",
    "Expression",
    "FileToUpload",
    "Gateway",
    "Node",
    "Page",
    "Platform",
    "Reference",
    "Retry",
    "ServiceError",
    "agent",
    "agentflow",
    "async_paginate",
    "cel",
    "inputs",
    "liquid",
    "paginate",
    "schema_of",
    "step",
]
