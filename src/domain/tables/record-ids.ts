const digits = 3;

/**
 * The nth id of a request. It differs from the record id of the request in the last three hexadecimal digits only, so that
 * it remains a UUIDv7 and a repeat of the request gets the same ids. `at` must be less than 4,096.
 */
export function nthId(recordId: string, at: number): string {
  const lastDigits = Number.parseInt(recordId.slice(-digits), 16);
  return recordId.slice(0, -digits) + ((lastDigits + at) % 16 ** digits).toString(16).padStart(digits, '0');
}
