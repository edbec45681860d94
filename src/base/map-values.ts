/** Returns an object with the same names, and with values made by `change`. */
export function mapValues<In, Out>(
  object: Readonly<Record<string, In>>,
  change: (value: In, name: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}
