/** Parses a form (WHATWG URL, application/x-www-form-urlencoded). A name that is repeated has a list of its values. */
export function formOf(text: string): Record<string, string | string[]> {
  const form = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const before = form.get(name);
    if (Array.isArray(before)) before.push(value);
    else form.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(form);
}
