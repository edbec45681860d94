import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { isAppError } from '../base/errors.js';
import { isJsonObject, parseJsonOrUndefined } from '../base/json.js';
import { hideSecrets } from './hide-secrets.js';
import { readableText } from './mcp-call-result.js';
import { isOutboundError, OutboundError } from './outbound-error.js';
import { isTransientStatus } from './retry-hints.js';

const maxMessageLength = 400;

/** Converts an error of the library for MCP. The texts of the server are kept, without secrets. */
export function outboundErrorOf(error: unknown, secrets: readonly string[]): unknown {
  const excerpt = (text: string) => String(hideSecrets(text, secrets)).replace(/\s+/g, ' ').slice(0, maxMessageLength);
  if (isOutboundError(error) || isAppError(error)) return error;
  if (error instanceof InsufficientScopeError) {
    const scope = JSON.stringify(excerpt(error.requiredScope ?? ''));
    const message = `the MCP server asks for the scope ${scope}: authorize it again, which requests this scope in addition to the present ones`;
    return new OutboundError('authorization_needed', message, { status: 403 });
  }
  if (error instanceof SdkHttpError) {
    const { status } = error;
    const reason = excerpt(reasonIn(readableText(error.data.text ?? '')));
    const message = `the MCP server answered with status ${status}${reason === '' ? '' : `: ${reason}`}`;
    return new OutboundError(isTransientStatus(status) ? 'action_unavailable' : 'action_refused', message, { status });
  }
  if (error instanceof ProtocolError)
    return new OutboundError('action_refused', `the MCP server refused: ${excerpt(error.message + dataOf(error))}`);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout)
      return new OutboundError('timeout', 'the MCP server did not answer in time');
    if (error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed)
      return new OutboundError('unreachable', 'the MCP server closed the connection');
    return new OutboundError('action_refused', `the MCP server cannot be used: ${excerpt(wordsOf(error.message))}`);
  }
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return new OutboundError('action_refused', 'the command of the MCP server does not exist on the worker');
  if (!(error instanceof Error) || !isAnswerProblem(error)) return error;
  return new OutboundError('action_refused', 'the MCP server answered with something that is not MCP');
}

/** Converts an error that the library threw while it connected and has no class for, such as an unknown version. */
export function connectProblemOf(error: unknown): unknown {
  const isPlain = error instanceof Error && Object.getPrototypeOf(error) === Error.prototype && !('code' in error);
  return isPlain ? new SdkError(SdkErrorCode.EraNegotiationFailed, error.message) : error;
}

/** The reason in the body of an error: a known member of JSON, or plain text. Pages are left out. */
function reasonIn(body: string): string {
  const parsed = parseJsonOrUndefined(body);
  if (parsed === undefined) return /^\s*</.test(body) ? '' : body.trim();
  if (!isJsonObject(parsed)) return readableText(parsed);
  const { error, error_description: description, message, detail } = parsed;
  const found = description ?? message ?? detail ?? (isJsonObject(error) ? (error.message ?? error) : error);
  return readableText(found ?? parsed);
}

/** What a server adds to an error, such as the address of a page or its cause. */
function dataOf({ data }: ProtocolError): string {
  return data === undefined || data === null ? '' : ` (${readableText(data)})`;
}

/** The text of a library error, which can contain the problems of a validator as JSON, in words. */
function wordsOf(message: string): string {
  const at = message.indexOf('[');
  const issues = at === -1 ? undefined : parseJsonOrUndefined(message.slice(at));
  if (!Array.isArray(issues)) return message;
  const words = issues.flatMap((issue) => {
    if (!isJsonObject(issue)) return [];
    const path = Array.isArray(issue.path) ? issue.path.join('.') : '';
    return [`${path === '' ? '' : `${path}: `}${readableText(issue.message)}`];
  });
  const subject = withoutColon(withoutColon(message.slice(0, at)).replace(/ZodError$/, ''));
  return `${subject}: ${words.slice(0, 5).join('; ')}`;
}

function withoutColon(text: string): string {
  return text.trimEnd().replace(/:$/, '').trimEnd();
}

function isAnswerProblem({ name }: Error): boolean {
  return name === 'ZodError' || name === '$ZodError' || name === 'SyntaxError';
}
