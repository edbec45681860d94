"""Client of the Governed Context and Workflow Service: context gateway and workflow platform.

What calls take and give is typed in ``gateway_types``, ``governance_types``, ``agentflow_types``, ``execution_types`` and ``platform_types``.
"""

from ._client import Client
from ._connection import ConnectionInfo
from ._errors import ServiceError
from ._files import FileToUpload
from ._gateway import Gateway
from ._pages import Page, paginate
from ._platform import Platform
from ._retry import Retry
from ._transport import CallOptions

__all__ = ["CallOptions", "Client", "ConnectionInfo", "FileToUpload", "Gateway", "Page", "Platform", "Retry", "ServiceError", "paginate"]
