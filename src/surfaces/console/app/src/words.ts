/** Filters of a list, by their names in its address. All values are words, so that people can write them. */
export type Words<Name extends string> = { readonly [N in Name]?: string };

/** The known, given parts of an address; everything else is dropped. */
export const wordsIn =
  <Name extends string>(...names: readonly Name[]) =>
  (given: Record<string, unknown>): Words<Name> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = given[name];
        return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim().slice(0, 1000)]] : [];
      }),
    ) as Words<Name>;
