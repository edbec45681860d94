import { hideSecrets } from '../outbound/hide-secrets.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { isTransientStatus, retryHintMs, statedWaitMs } from '../outbound/retry-hints.js';
import { redactText } from '../graph/redaction/redact-text.js';
import type { EndpointError } from './endpoint-error.js';
import { outlookOf, type Outlook } from './permanent-errors.js';

const maxReadLength = 2000;
const maxReasonLength = 400;
/** Attempts after an error that nothing says is passing. */
const fewAttempts = 5;
/** Attempts after an error of the answer that the model wrote. */
const attemptsByChance = 3;

/** Statuses below 500 of endpoints without free capacity (Groq: 498). */
const busyStatuses: ReadonlySet<number> = new Set([498]);
const errorNames =
  /invalid_?request|bad_?request|invalid_?argument|authentication|permission|not_?found|failed_?precondition|unprocessable/;

interface FailureOptions {
  headers?: Pick<Headers, 'get'> | undefined;
  /** The credentials that the request contained. */
  secrets: readonly string[];
  /** Whether the error stood in an answer with status 200. */
  isInAnswer?: boolean;
}

/** Converts what an endpoint says to an error for the caller, with the reason and without secrets. */
export function endpointFailure(error: EndpointError, options: FailureOptions): OutboundError {
  const { headers, secrets, isInAnswer = false } = options;
  const { status, names, messages } = error;
  const reason = reasonOf(error, secrets);
  const what = isInAnswer
    ? 'the model endpoint reported an error within its answer'
    : `the model endpoint answered with status ${status}`;
  const message = reason === '' ? what : `${what}: ${reason}`;
  const known = status === undefined ? {} : { status };
  const outlook = outlookOf([...names, ...messages].join(' \n').toLowerCase());
  if (outlook === 'permanent' || isRefusal(error, outlook)) return new OutboundError('model_refused', message, known);
  const wait = (headers && retryHintMs(headers, Date.now())) ?? statedWaitMs(messages.join(' '));
  const isPassing = status === undefined ? outlook === 'passing' || outlook === 'busy' : isBusy(status);
  return new OutboundError('model_unavailable', message, {
    ...known,
    retryAfterMs: wait,
    ...(outlook === 'by chance' ? { maxAttempts: attemptsByChance } : !isPassing && { maxAttempts: fewAttempts }),
  });
}

function isRefusal({ status, names }: EndpointError, outlook: Outlook): boolean {
  if (outlook === 'by chance') return false;
  if (status === 401 || status === 402) return true;
  if (outlook === 'busy') return false;
  if (status !== undefined) return !isBusy(status);
  return outlook !== 'passing' && names.some((name) => errorNames.test(name.toLowerCase()));
}

function isBusy(status: number): boolean {
  return isTransientStatus(status) || busyStatuses.has(status);
}

/** The words of the endpoint, without secrets and personal data, in at most about 400 characters. */
export function reasonOf({ names, messages, fields }: EndpointError, secrets: readonly string[]): string {
  const said = messages.join('; ');
  const unsaid = [...fields, ...names].filter((name) => !said.toLowerCase().includes(name.toLowerCase()));
  return cleanReason([said, unsaid.length > 0 ? `(${unsaid.slice(0, 3).join(', ')})` : ''].join(' '), secrets);
}

/** Forms of keys that endpoints quote in their errors, often shortened or partly masked. */
const quotedKeys = [
  /(?<![\w-])(?:sk|pk|rk|gsk|xai|csk|pplx|fw|nvapi|tgp|sess)[-_][\w*.…-]{4,}/gi,
  /(?<=\b(?:key|token|bearer)\b(?: provided)?["')]?\s?[:=]\s?["']?)[^\s"',;]{6,}/gi,
  /(?<=\b(?:key|token)\s["'`])[^\s"'`]{6,}/gi,
  /(?<=\bBearer\s)\S{6,}/gi,
  /\b[0-9a-f]{32,}\b/gi,
];

/** Removes secrets before it shortens a text, so that no part of a secret remains. */
export function cleanReason(text: string, secrets: readonly string[]): string {
  const known = String(hideSecrets(text, secrets));
  const start = known.length > maxReadLength ? known.slice(0, known.lastIndexOf(' ', maxReadLength)) : known;
  const redacted = redactText(
    start
      .slice(0, maxReadLength)
      .replace(/[\s\0]+/g, ' ')
      .trim(),
  );
  const clean = quotedKeys.reduce((kept, key) => kept.replace(key, '[secret]'), redacted);
  return clean.length > maxReasonLength ? `${clean.slice(0, maxReasonLength)} […]` : clean;
}

/** The failure of an endpoint that could not be reached. */
export function unreachableEndpoint(): OutboundError {
  return new OutboundError('model_unavailable', 'the model endpoint could not be reached');
}

/** An answer that cannot be used. A new one may be better, but only a few are asked for. */
export function unusableAnswer(
  message = 'the model endpoint gave no answer that can be read',
  maxAttempts = fewAttempts,
): OutboundError {
  return new OutboundError('model_answer_unusable', message, { maxAttempts });
}

/** An answer that the endpoint says is broken, or without content. */
export function brokenAnswer(message: string): OutboundError {
  return unusableAnswer(message, attemptsByChance);
}
