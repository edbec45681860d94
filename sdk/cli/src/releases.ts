import { paginate, type Client } from '../../node/src/index.js';
import { Problem } from './problem.js';
import { print } from './terminal.js';

export interface PointOptions {
  channel: string;
  version?: number;
  note?: string;
}

/** Points a channel to a release. Without `version`, to the latest one. */
export async function promote(client: Client, id: string, { channel, version, note }: PointOptions): Promise<void> {
  const { call } = client;
  const { data } = await call('get', '/agentflow/{id}/versions', { params: { id }, query: { limit: 1 } });
  const latest = data[0]?.version;
  if (latest === undefined) throw new Problem('the agentflow has no release; publish one with `gcs push --release`');
  await point(client, id, channel, { version: version ?? latest, note });
}

/** Points a channel back. Without `version`, to the release before the one that it points to. */
export async function rollback(client: Client, id: string, { channel, version, note }: PointOptions): Promise<void> {
  const current = await pointerOf(client, id, channel);
  if (!current) throw new Problem(`the channel ${JSON.stringify(channel)} points to no release; promote one first`);
  const target = version ?? current.version - 1;
  if (target < 1)
    throw new Problem(`the channel ${JSON.stringify(channel)} points to release 1, and there is none before it`);
  await point(client, id, channel, { version: target, note });
}

async function pointerOf({ call }: Client, id: string, channel: string) {
  const { channels } = await call('get', '/agentflow/{id}/channels', { params: { id } });
  return channels.find((each) => each.channel === channel);
}

async function point(
  client: Client,
  id: string,
  channel: string,
  { version, note }: { version: number; note: string | undefined },
): Promise<void> {
  const current = await pointerOf(client, id, channel);
  const body = { version, expected: current?.digest ?? null, ...(note !== undefined && { note }) };
  await client.call('put', '/agentflow/{id}/channels/{channel}', { params: { id, channel }, body });
  print(`${channel}: release ${version}${current ? ` (before: release ${current.version})` : ''}`);
}

/** Prints who pointed a channel to which release, newest first. */
export async function history({ platform }: Client, id: string, channel: string, json: boolean): Promise<void> {
  for await (const each of paginate((page) => platform.agentflows.history(id, channel, page), { limit: 200 })) {
    const { version, split, promoted_at, promoted_by, note, approval_id } = each;
    const parts = [
      `${new Date(promoted_at * 1000).toISOString()} release ${version}`,
      ...(split ? [`(${split.percent} % of the runs: release ${split.version})`] : []),
      `by ${promoted_by}`,
      ...(approval_id === null ? [] : [`with the approval ${approval_id}`]),
    ];
    print(json ? JSON.stringify(each) : `${parts.join(' ')}${note === '' ? '' : `: ${note}`}`);
  }
}

/** Prints what differs between two places, and what a run may do in addition. */
export async function diff(
  client: Client,
  id: string,
  query: { from: string; to: string },
  json: boolean,
): Promise<void> {
  const found = await client.call('get', '/agentflow/{id}/diff', { params: { id }, query });
  if (json) return print(JSON.stringify(found));
  const signs = { added: '+', removed: '-', changed: '~' };
  for (const { path, change, fields } of found.changes)
    print(`${signs[change]} ${path}${fields.length > 0 ? `: ${fields.map(({ name }) => name).join(', ')}` : ''}`);
  if (found.changes.length === 0) print('Nothing differs.');
  for (const { kind, path, text } of found.risks) print(`! ${kind} ${path}: ${text}`);
}
