export interface HttpRequest {
  method: string;
  url: string;
  headers?: unknown;
  body?: unknown;
}

/** Curl sets these itself, and the receiver would take the same idempotency key for a repeated call. */
const ownHeaders: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'idempotency-key']);

/**
 * Writes a recorded request as a command for a shell. Its texts come from models and other systems, so the shell must take each as one word,
 * and curl none as a file or a pattern. Undefined if a terminal would act on a character of it.
 */
export function asCurl({ method, url, headers, body }: HttpRequest): string | undefined {
  const given = typeof headers === 'object' && headers !== null ? Object.entries(headers) : [];
  const sent = given.filter(([name]) => !ownHeaders.has(name.toLowerCase()));
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const parts = [
    `curl --globoff --request ${quoted(method)} --url ${quoted(url)}`,
    ...sent.map(([name, value]) => `--header ${quoted(`${name}: ${String(value)}`)}`),
    ...(text === undefined || text === '' ? [] : [`--data-raw ${quoted(text)}`]),
  ];
  if (!/^https?:/i.test(url) || parts.some((part) => /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(part)))
    return undefined;
  return parts.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
