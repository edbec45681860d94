import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client } from '../../node/src/index.js';
import { noteInStep, removeFiles, requireFolder, schemaFileOf, writeFiles, writeState, writeText } from './folder.js';
import { kinds } from './kinds.js';
import { compare, type Change, type Difference, type Selection } from './plan.js';
import { exitCodes, Problem } from './problem.js';
import { editorSchema } from './schema.js';
import { canonical, type Json } from './shape.js';
import { print } from './terminal.js';

const signs: Readonly<Record<Change, string>> = {
  same: ' ',
  create: '+',
  update: '~',
  delete: '-',
  'changed elsewhere': '!',
  'deleted elsewhere': '!',
  'only there': '?',
};

/** Makes what {@link requireFolder} expects. */
export function prepare(root: string): void {
  mkdirSync(path.join(root, 'agentflows'), { recursive: true });
}

export async function init(client: Client, root: string): Promise<void> {
  prepare(root);
  const ignored = path.join(root, '.gitignore');
  if (!existsSync(ignored)) writeFileSync(ignored, '.gcs/\n');
  await writeSchemas(client, root);
  print('This folder is prepared for the files of the project. `gcs pull` fetches them.');
}

async function writeSchemas({ platform }: Client, root: string): Promise<void> {
  const document = await platform.request<Json>('GET', '/openapi.json');
  for (const kind of kinds)
    writeText(root, schemaFileOf(kind), `${JSON.stringify(editorSchema(document, kind), null, 2)}\n`);
}

/** Prints what `push` would change. Returns whether anything differs. */
export async function plan(client: Client, root: string, options: Selection & { json?: boolean }): Promise<boolean> {
  requireFolder(root);
  const { found } = await compare(client, root, options);
  const changes = found.filter(({ change }) => change !== 'same');
  if (options.json) print(JSON.stringify({ changes: changes.map(entryOf) }));
  else {
    for (const each of changes) print(lineOf(each));
    print(changes.length === 0 ? 'Nothing differs.' : `Files that differ: ${changes.length} of ${found.length}.`);
  }
  return changes.length > 0;
}

function entryOf(each: Difference) {
  const { kind, file, change, local, remote } = each;
  const name = kind.nameOf((local ?? remote)?.content ?? {}, new Map());
  return { kind: kind.folder, file, name, change, fields: fieldsOf(each), id: remote?.stored.id };
}

export function lineOf(each: Difference): string {
  const fields = fieldsOf(each).join(', ');
  return `${signs[each.change]} ${placeOf(each)}: ${each.change}${fields === '' ? '' : ` (${fields})`}`;
}

/** The fields that differ, if both sides have the resource. */
function fieldsOf({ local, remote }: Difference): string[] {
  if (!local || !remote) return [];
  const names = new Set([...Object.keys(local.content), ...Object.keys(remote.content)]);
  return [...names].filter((name) => canonical(local.content[name]) !== canonical(remote.content[name]));
}

export function placeOf({ kind, file }: Pick<Difference, 'kind' | 'file'>): string {
  return `${kind.folder}/${file}`;
}

interface PullOptions extends Selection {
  force?: boolean;
}

export async function pull(client: Client, root: string, options: PullOptions): Promise<void> {
  requireFolder(root);
  const { written, total } = await pullFiles(client, root, options);
  if (kinds.some((kind) => !existsSync(path.join(root, schemaFileOf(kind))))) await writeSchemas(client, root);
  print(`Files written: ${written} of ${total}.`);
}

/** Writes what has changed in the project. Keeps what has changed in files only. */
export async function pullFiles(client: Client, root: string, options: PullOptions) {
  const { force = false } = options;
  const { state, found } = await compare(client, root, options);
  const isInStep = ({ local, base }: Difference) => base !== undefined && (!local || local.digest === base);
  const fromThere = (each: Difference) =>
    each.change === 'only there' || force || (isChangedThere(each) && isInStep(each));
  const blocked = found.filter((each) => isChangedThere(each) && !(fromThere(each) && (each.local ?? force)));
  refuse(blocked, 'differs here and in the project; `gcs pull --force` takes the project');
  let written = 0;
  for (const each of found) {
    const { kind, file, change, remote } = each;
    const known = state.resources[kind.folder];
    if (change === 'same' && remote) noteInStep(known, file, { id: remote.stored.id, digest: remote.digest });
    if (change === 'same' || change === 'create' || !fromThere(each)) continue;
    written += 1;
    if (remote) {
      writeFiles(root, kind, file, remote.content);
      noteInStep(known, file, { id: remote.stored.id, digest: remote.digest });
    } else {
      removeFiles(root, kind, file);
      known.delete(file);
    }
  }
  writeState(root, state);
  return { written, total: found.length };
}

export function isChangedThere({ change }: Difference): boolean {
  return change === 'changed elsewhere' || change === 'deleted elsewhere';
}

export function refuse(blocked: readonly Difference[], why: string): void {
  if (blocked.length > 0) throw new Problem(`${blocked.map(placeOf).join(', ')}: ${why}`, exitCodes.drift);
}
