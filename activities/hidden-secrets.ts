/** Shorter texts would be found in what has nothing to do with them. */
const shortest = 6;

/** A value of JSON with every secret in its texts and names replaced, longest first. */
export function hidden(value: unknown, secrets: readonly string[]): unknown {
  const sought = [...new Set(secrets)].filter((secret) => secret.length >= shortest).sort((a, b) => b.length - a.length);
  return sought.length === 0 ? value : hide(value, (text) => sought.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text));
}

function hide(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((each) => hide(each, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [clean(name), hide(each, clean)]));
}
