/** A page of a list, newest first. `next_cursor` is null on the last page. */
export interface Page<T> {
  data: T[];
  /** The number of records, counted up to 10,000. */
  total_count: number;
  /** True if there are more than 10,000 records. */
  total_is_lower_bound?: boolean;
  next_cursor: string | null;
}

export interface PageQuery {
  /** From 1 to 200. The default is 50. */
  limit?: number;
  cursor?: string;
}

/**
 * Yields every record of a list and loads its pages on demand: `for await (const flow of
 * paginate(client.platform.agentflows.list))`.
 */
export async function* paginate<T, Q extends PageQuery>(
  list: (query: Q) => Promise<Page<T>>,
  query: Q = {} as Q,
): AsyncGenerator<T, void, undefined> {
  for (let cursor = query.cursor; ;) {
    const page = await list(cursor === undefined ? query : { ...query, cursor });
    yield* page.data;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}
