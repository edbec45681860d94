const digits = 3;

/**
 * The ids that one request makes: its own record id, and others that differ from it in the last three hexadecimal digits,
 * so that a repeat of the request makes the same ones. They stay UUIDv7; `at` is below 4,096.
 */
export function nthId(recordId: string, at: number): string {
  const own = Number.parseInt(recordId.slice(-digits), 16);
  return recordId.slice(0, -digits) + ((own + at) % 16 ** digits).toString(16).padStart(digits, '0');
}
