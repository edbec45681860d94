"""The client of the Governed Context and Workflow Service: context gateway and workflow platform.

The module ``types`` has a type for each schema of the API reference.
"""

from ._client import Client
from ._errors import ServiceError
from ._files import FileToUpload
from ._gateway import Gateway
from ._pages import Page, paginate
from ._platform import Platform
from ._retry import Retry
from ._transport import CallOptions
from .types import ConnectionInfo

__all__ = ["CallOptions", "Client", "ConnectionInfo", "FileToUpload", "Gateway", "Page", "Platform", "Retry", "ServiceError", "paginate"]
