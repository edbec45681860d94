import { isJsonObject, parseJsonOrUndefined, type JsonObject } from '../base/json.js';

/** What an endpoint says about a failure. Endpoints use many forms of error objects. */
export interface EndpointError {
  /** The HTTP status, or the status that the error names. */
  status: number | undefined;
  /** Codes, types and other names of the error. */
  names: string[];
  /** The messages, without repetitions. */
  messages: string[];
  /** The fields of the request that the error blames: `param`, and the paths of validation errors. */
  fields: string[];
}

const messageKeys: ReadonlySet<string> = new Set([
  ...['message', 'msg', 'detail', 'details', 'error', 'errors', 'error_message', 'error_msg', 'error_description'],
  ...['errorMessage', 'status_msg', 'reason', 'raw', 'metadata', 'innererror', 'inner_error', 'failed_generation'],
  ...['body', 'base_resp', 'provider_specific_fields', 'description', 'violations', 'refusal', 'title', 'cause'],
]);
const nameKeys: ReadonlySet<string> = new Set([
  ...['code', 'type', 'status', 'error_code', 'errorCode', 'error_type', 'reason', 'quotaId', '__type'],
]);
const statusKeys: ReadonlySet<string> = new Set([
  ...['status', 'code', 'status_code', 'statusCode', 'http_code', 'http_status', 'error_code'],
]);
const maxDepth = 8;
const maxTexts = 20;

/** Reads the body of a refusal, which may also be text or HTML. */
export function readError(body: string, status: number | undefined): EndpointError {
  const json = parseJsonOrUndefined(body);
  return collected(typeof json === 'object' && json !== null ? json : textOf(body), status);
}

/** Reads the error in an answer or chunk of an answer. Returns undefined if there is none. */
export function errorIn(answer: unknown): EndpointError | undefined {
  const error = errorObjectIn(answer);
  return error === undefined ? undefined : collected(error, undefined);
}

function errorObjectIn(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.find((each) => errorObjectIn(each) !== undefined) as unknown;
  if (!isJsonObject(answer)) return undefined;
  const { error, choices, base_resp: base } = answer;
  if (saysSomething(error) || answer.object === 'error' || answer.type === 'error') return answer;
  const chosen = Array.isArray(choices) ? (choices as unknown[]) : [];
  const broken = chosen.find((choice) => isJsonObject(choice) && saysSomething(choice.error));
  if (broken) return broken;
  if (isJsonObject(base) && typeof base.status_code === 'number' && base.status_code !== 0) return base;
  return chosen.length === 0 && isBareError(answer) ? answer : undefined;
}

/** An error without the key `error`, as FastAPI and several gateways send it. */
function isBareError(answer: JsonObject): boolean {
  const { detail, errors, message, msg, code, status, statusCode, success } = answer;
  if (saysSomething(detail) || saysSomething(errors) || success === false) return true;
  return [code, status, statusCode].some(isErrorCode) && (saysSomething(message) || saysSomething(msg));
}

function isErrorCode(code: unknown): boolean {
  if (typeof code === 'number') return code >= 400;
  return (
    typeof code === 'string' &&
    /error|fail|invalid|denied|unauth|exhaust|limit|quota|not_?found|bad|^[45]\d\d/i.test(code)
  );
}

function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(saysSomething);
  if (isJsonObject(value)) return Object.values(value).some(saysSomething);
  return value !== undefined && value !== null && value !== '' && value !== false && value !== 0;
}

function collected(source: unknown, status: number | undefined): EndpointError {
  const error: EndpointError = { status, names: [], messages: [], fields: [] };
  collect(source, error, 0);
  const unique = (texts: string[]) => [...new Set(texts)].slice(0, maxTexts);
  return { ...error, names: unique(error.names), messages: unique(error.messages), fields: unique(error.fields) };
}

function collect(value: unknown, into: EndpointError, depth: number): void {
  if (depth > maxDepth) return;
  if (Array.isArray(value)) for (const each of value.slice(0, maxTexts)) collect(each, into, depth + 1);
  else if (typeof value === 'string') collectText(value, into, depth);
  else if (isJsonObject(value)) for (const [key, part] of Object.entries(value)) collectField(key, part, into, depth);
}

function collectField(key: string, value: unknown, into: EndpointError, depth: number): void {
  if (key === 'loc' && Array.isArray(value)) into.fields.push(value.join('.'));
  else if ((key === 'param' || key === 'field') && typeof value === 'string' && value !== '') into.fields.push(value);
  if (statusKeys.has(key)) into.status ??= statusIn(value);
  if (nameKeys.has(key) && typeof value === 'string' && value !== '' && !/^\d+$/.test(value)) into.names.push(value);
  if (messageKeys.has(key) && !(nameKeys.has(key) && typeof value === 'string' && /^\S+$/.test(value)))
    collect(value, into, depth + 1);
}

/** Some gateways quote the error of another server as JSON in a text. */
function collectText(text: string, into: EndpointError, depth: number): void {
  const json = /^\s*[{[]/.test(text) ? parseJsonOrUndefined(text) : undefined;
  if (typeof json === 'object' && json !== null) collect(json, into, depth + 1);
  else if (text.trim() !== '') into.messages.push(text.trim());
}

function statusIn(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

function textOf(body: string): string {
  return body
    .slice(0, 4000)
    .split(/<(?=(?:style|script)\b)/i)
    .map((part, at) => (at === 0 ? part : afterElement(part)))
    .join(' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What follows a style or script. An element without an end takes the rest. */
function afterElement(part: string): string {
  const end = /<\/(?:style|script)>/i.exec(part);
  return end ? part.slice(end.index + end[0].length) : '';
}
