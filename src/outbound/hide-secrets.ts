/** Shorter secrets would also match unrelated text. */
const minLength = 6;

/** Replaces every secret in the strings and names of a JSON value, longest first. */
export function hideSecrets(value: unknown, secrets: readonly string[]): unknown {
  const sought = [...new Set(secrets)]
    .filter((secret) => secret.length >= minLength)
    .sort((a, b) => b.length - a.length);
  return sought.length === 0
    ? value
    : hide(value, (text) => sought.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text));
}

function hide(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((each) => hide(each, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [clean(name), hide(each, clean)]));
}
