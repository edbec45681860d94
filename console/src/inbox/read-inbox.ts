import { call, type InboxItem } from '../api.js';
import { readAll } from '../read-all.js';

/** Returns all pending items, oldest first, although the API lists the newest first. */
export async function readInbox(): Promise<InboxItem[]> {
  return (await readAll((query) => call('get', '/inbox', { query }))).reverse();
}
