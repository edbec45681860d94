/** Returns the named fields that the object has. */
export function pick<T extends object, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name]]] : []))) as Pick<T, K>;
}
