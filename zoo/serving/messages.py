"""What the server says when it refuses a request: one table, worded as TensorFlow Serving words it.

Each entry is a status code with a text; calling it with the values for the text makes the error to raise:

    raise messages.UNKNOWN_SERVABLE(request="Latest(dates)")
"""

from typing import Any, NamedTuple

__all__ = ["HTTP_STATUS", "Message", "RefusalError"]

HTTP_STATUS = {
    "OK": 200,
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "UNKNOWN": 500,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""The HTTP status of each canonical status code."""


class RefusalError(Exception):
    """A request that is answered with an error: a canonical status code, and a message for the caller."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Message(NamedTuple):
    """A row of the table: a canonical status code, and a text with named gaps."""

    code: str
    text: str

    def __call__(self, **values: Any) -> RefusalError:
        """The error to raise, with the gaps filled."""
        return RefusalError(self.code, self.text.format(**values))


# Which model, version and signature
UNKNOWN_SERVABLE = Message("NOT_FOUND", "Servable not found for request: {request}")
UNKNOWN_MODEL_STATUS = Message("NOT_FOUND", "Could not find any versions of model {name}")
UNKNOWN_VERSION_STATUS = Message("NOT_FOUND", "Could not find version {version} of model {name}")
UNKNOWN_LABEL = Message("INVALID_ARGUMENT", "Unrecognized servable version label: {label}")
UNKNOWN_SIGNATURE_REST = Message(
    "INVALID_ARGUMENT", 'Serving signature name: "{signature}" not found in signature def'
)
UNKNOWN_SIGNATURE_GRPC = Message("FAILED_PRECONDITION", 'Serving signature key "{signature}" not found.')
NO_INPUT_MAP = Message("INVALID_ARGUMENT", "Failed to get input map for signature: {signature}")

# URLs
MALFORMED = Message("INVALID_ARGUMENT", "Malformed request: {method} {path}")
MISSING_MODEL_NAME = Message("INVALID_ARGUMENT", "Missing model name in request.")
UNSUPPORTED_METHOD = Message(
    "UNIMPLEMENTED", "This server answers :predict; :{verb} is left to TensorFlow Serving itself."
)

# The JSON document
PARSE_ERROR = Message("INVALID_ARGUMENT", "JSON Parse error: {problem}")
NOT_AN_OBJECT = Message("INVALID_ARGUMENT", "JSON Value: {value} Is not object")
SIGNATURE_NOT_STRING = Message(
    "INVALID_ARGUMENT",
    "JSON Value: {value} not formatted correctly. 'signature_name' key must be a string value.",
)
NEITHER_KEY = Message("INVALID_ARGUMENT", "Missing 'inputs' or 'instances' key")
BOTH_KEYS = Message(
    "INVALID_ARGUMENT",
    "JSON Value: {value} Not formatted correctly expecting only one of 'inputs' or 'instances' "
    "keys to exist ",
)
INSTANCES_NOT_LIST = Message(
    "INVALID_ARGUMENT", "JSON Value: {value} Expecting 'instances' to be an list/array"
)
NO_INSTANCES = Message("INVALID_ARGUMENT", "JSON Value: {value} No values in 'instances' array")

# Row form
PLAIN_INSTANCES = Message(
    "INVALID_ARGUMENT",
    "instances is a plain list, but expecting list of objects as multiple input tensors required "
    "as per tensorinfo_map",
)
OBJECT_EXPECTED = Message("INVALID_ARGUMENT", "Expecting object but got list at item {index} of input list")
VALUE_EXPECTED = Message(
    "INVALID_ARGUMENT", "Expecting value/list but got object at item {index} of input list"
)
BAD_ELEMENT = Message(
    "INVALID_ARGUMENT", "Failed to process element: {where} of 'instances' list. Error: {code}: {message}"
)
KEYS_DIFFER = Message(
    "INVALID_ARGUMENT",
    "Failed to process element: {index} of 'instances' list. JSON object: {value} "
    "keys must be equal to: {names}",
)
NO_SUCH_INPUT = Message("INVALID_ARGUMENT", "JSON object: does not have named input: {name}")
SIZE_DIFFERS = Message("INVALID_ARGUMENT", "Expecting tensor size: {expected} but got: {size}")
SHAPE_DIFFERS = Message("INVALID_ARGUMENT", "Expecting shape {expected} but got: {shape}")

# Column form
PLAIN_INPUTS = Message(
    "INVALID_ARGUMENT",
    "inputs is a plain value/list, but expecting an object as multiple input tensors required "
    "as per tensorinfo_map",
)
MISSING_INPUT = Message("INVALID_ARGUMENT", "Missing named input: {name} in 'inputs' object.")

# Values
WRONG_TYPE = Message(
    "INVALID_ARGUMENT", "JSON Value: {value} Type: {kind} is not of expected type: {expected}"
)
UNSUPPORTED_TYPE = Message("UNIMPLEMENTED", "Conversion of JSON Value: {value} to type: {expected}")
BAD_BASE64 = Message("INVALID_ARGUMENT", "Unable to base64 decode")
VALUE_LEVEL = Message(
    "INVALID_ARGUMENT",
    "JSON Value: {value} found at incorrect level: {level} in the JSON DOM. Expected at level: {rank}",
)
LIST_LEVEL = Message("INVALID_ARGUMENT", "Encountered list at unexpected level: {level} expected < {rank}")
LIST_SIZE = Message(
    "INVALID_ARGUMENT",
    "Encountered list at unexpected size: {size} at level: {level} expected size: {expected}",
)
BAD_TENSOR = Message("INVALID_ARGUMENT", "tensor parsing error: {name}")

# Limits of this server
TOO_MANY_ROWS = Message(
    "INVALID_ARGUMENT",
    "Input {name} has {rows} rows, and this server takes {limit} at a time. Send fewer, or start the server "
    "with --max_request_rows={rows}.",
)
TEXT_TOO_LONG = Message(
    "INVALID_ARGUMENT",
    "Input {name} has a text of {size} bytes, and this server takes {limit}. Send a shorter one, or start "
    "the server with --max_text_bytes={size}.",
)
TOO_MUCH_PADDING = Message(
    "INVALID_ARGUMENT",
    "Input {name} has {rows} rows, the longest of {size} bytes, to which all would be padded. Send the long "
    "ones in a request of their own.",
)

# Outputs
NO_BATCH_AXIS = Message("INVALID_ARGUMENT", "Tensor name: {name} has no shape information ")
BATCH_DIFFERS = Message(
    "INVALID_ARGUMENT", "Tensor name: {name} has inconsistent batch size: {size} expecting: {expected}"
)
UNWRITABLE_TYPE = Message("INVALID_ARGUMENT", "Failed to write JSON value for tensor type: {kind}")

# Server-side batching
NO_ROWS_AXIS = Message("INVALID_ARGUMENT", "Batching Run() input tensors must have at least one dimension")
ROWS_DIFFER = Message("INVALID_ARGUMENT", "Batching Run() input tensors must have equal 0th-dimension size")
TASK_TOO_LARGE = Message(
    "INVALID_ARGUMENT", "Task size {size} is larger than maximum input batch size {limit}"
)
QUEUE_FULL = Message(
    "UNAVAILABLE",
    "The batch scheduling queue to which this task was submitted is full; currently {batches} batches "
    "enqueued and max_enqueued_batches is {limit}",
)
LATE_IN_QUEUE = Message("RESOURCE_EXHAUSTED", "Run() timeout exceeded while waiting in batching queue")
ROW_SHAPES_DIFFER = Message(
    "FAILED_PRECONDITION",
    "Tensors with name '{name}' from different tasks have different shapes and padding is turned off. "
    "Set pad_variable_length_inputs to true, or ensure that all tensors with the same name "
    "have equal dimensions starting with the first dim.",
)
ROW_RANKS_DIFFER = Message(
    "FAILED_PRECONDITION", "Tensors with name '{name}' from different tasks have different ranks"
)
OUTPUT_WITHOUT_ROWS = Message("FAILED_PRECONDITION", "Batched output tensor has 0 dimensions")
OUTPUT_ROWS_DIFFER = Message(
    "FAILED_PRECONDITION",
    "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes "
    "of the input tensors",
)
CLOSED = Message("UNAVAILABLE", "The server is stopping.")

# Configs and flags
BAD_CONFIG_FILE = Message("INVALID_ARGUMENT", "Invalid protobuf file: '{path}': {problem}")
NOT_A_CONFIG_LIST = Message(
    "INVALID_ARGUMENT",
    "ServerModelConfig type not supported by HandleReloadConfigRequest. "
    "Only ModelConfigList is currently supported",
)
MODEL_TWICE = Message("INVALID_ARGUMENT", "Illegal to list model {name} multiple times in config list")
MODEL_WITHOUT_NAME = Message(
    "INVALID_ARGUMENT", "Expected each model to have a name; the one with base_path()={path} has none"
)
RELATIVE_BASE_PATH = Message(
    "INVALID_ARGUMENT", "Expected model {name} to have an absolute path or URI; got base_path()={path}"
)
NUL_IN_BASE_PATH = Message(
    "INVALID_ARGUMENT",
    "Expected model {name} to have a path without NUL characters; got base_path()={path!r}",
)
NO_PLATFORM = Message(
    "INVALID_ARGUMENT",
    "Illegal setting neither ModelServerConfig::model_type (deprecated) nor "
    "ModelServerConfig::model_platform, model name is {name}",
)
UNKNOWN_PLATFORM = Message(
    "INVALID_ARGUMENT", "Expected model {name} to have the platform tensorflow; got {platform}"
)
LABEL_OF_UNAVAILABLE = Message(
    "FAILED_PRECONDITION",
    "Request to assign label to version {version} of model {name}, "
    "which is not currently available for inference",
)
MODELS_NOT_AVAILABLE = Message("UNKNOWN", "{count} model(s) did not become available: {{{models}}}")
NO_MODELS = Message(
    "INVALID_ARGUMENT",
    "Both server_options.model_base_path and server_options.model_config_file are empty!",
)
BATCHING_IS_OFF = Message(
    "INVALID_ARGUMENT",
    "server_options.batching_parameters_file is set without setting server_options.enable_batching to true.",
)
LAST_BATCH_SIZE = Message(
    "INVALID_ARGUMENT",
    "Last entry in allowed_batch_sizes must match max_batch_size; last entry was {size}; expected {limit}",
)
FALLING_BATCH_SIZES = Message(
    "INVALID_ARGUMENT", "allowed_batch_sizes entries must be monotonically increasing"
)
BAD_PARAMETER = Message("INVALID_ARGUMENT", "{name} must be at least {least}; was {value}")
REFUSED_FLAG = Message(
    "UNIMPLEMENTED",
    "This server cannot encrypt: take --{flag} away and put a proxy in front, or use TensorFlow Serving.",
)

# Health and metrics
UNKNOWN_SERVICE = Message("NOT_FOUND", "unknown service {service}")
METRICS_PATH = Message("INVALID_ARGUMENT", "Unexpected path: {path}. Should be {expected}")

# gRPC
NO_MESSAGE = Message("INVALID_ARGUMENT", "The request cannot be read as the message of this call: {problem}")
MISSING_MODEL_SPEC = Message("INVALID_ARGUMENT", "Missing ModelSpec")
MISSING_SPEC_NAME = Message("INVALID_ARGUMENT", "ModelSpec has no name specified.")
INPUT_COUNT = Message(
    "INVALID_ARGUMENT",
    "input size does not match signature: {sent}!={expected} len({{{sent_names}}}) != len({{{names}}}). "
    "Sent extra: {{{extra}}}. Missing but required: {{{missing}}}.",
)
INPUT_NAME = Message(
    "INVALID_ARGUMENT",
    "Signature input alias: {name}(feed name: {tensor}) not found in request and no default value provided. "
    "Inputs expected to be in the request {{{names}}}, or default input alias set: ",
)
UNKNOWN_OUTPUT = Message(
    "INVALID_ARGUMENT",
    "output tensor alias not found in signature: {name} Outputs expected to be in the set {{{names}}}.",
)
DUPLICATE_OUTPUT = Message("INVALID_ARGUMENT", "duplicate output tensor alias: {name}")
NO_METADATA_FIELD = Message(
    "INVALID_ARGUMENT", "GetModelMetadataRequest must specify at least one metadata_field"
)
UNKNOWN_METADATA_FIELD = Message("INVALID_ARGUMENT", "Metadata field {field} is not supported")

# Faults of the server's own
INTERNAL = Message("INTERNAL", "The server failed to answer: {problem}; its log tells more.")
