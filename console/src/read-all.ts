import { paginate, type Page, type PageQuery } from '@client/page.js';

const maxRecords = 2000;

/** Returns the newest records of a list, at most 2,000. */
export async function readAll<T>(list: (query: PageQuery) => Promise<Page<T>>): Promise<T[]> {
  const records: T[] = [];
  for await (const record of paginate(list, { limit: 200 })) {
    records.push(record);
    if (records.length === maxRecords) break;
  }
  return records;
}
