/** The values of named parameters in the query string. All values are readable, so that people can type them. */
export type SearchParams<Name extends string> = { readonly [N in Name]?: string };

/** Returns a function that keeps the named parameters that are not empty, and drops the others. */
export const searchParamsIn =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): SearchParams<Name> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim().slice(0, 1000)]] : [];
      }),
    ) as SearchParams<Name>;
