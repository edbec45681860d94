/** One page, newest first; `next_cursor` is null on the last. */
export interface Page<T> {
  data: T[];
  /** Counted up to 10,000. */
  total_count: number;
  /** Present when there are more than 10,000. */
  total_is_lower_bound?: true;
  next_cursor: string | null;
}

export interface PageQuery {
  /** 1 to 200; 50. */
  limit?: number;
  cursor?: string;
}

/** Every record of a list, page by page: `for await (const flow of paginate(client.platform.agentflows.list))`. */
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
