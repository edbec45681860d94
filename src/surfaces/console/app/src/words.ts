/** The filters of a list, by their names in the query string. All values are readable, so that people can type them. */
export type Words<Name extends string> = { readonly [N in Name]?: string };

/** Returns the known parameters that are not empty, and drops the others. */
export const wordsIn =
  <Name extends string>(...names: readonly Name[]) =>
  (given: Record<string, unknown>): Words<Name> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = given[name];
        return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim().slice(0, 1000)]] : [];
      }),
    ) as Words<Name>;
