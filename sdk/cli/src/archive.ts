import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { zipSync } from 'fflate';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import type { Client } from '../../node/src/index.js';
import { maxBytes, writeText } from './folder.js';
import { kinds } from './kinds.js';
import { Problem } from './problem.js';
import { push, type PushOptions } from './push.js';
import type { Selection } from './plan.js';
import { plan, prepare, pullFiles } from './sync.js';
import { print } from './terminal.js';

/** What an archive may have at most. */
const maxFiles = 10_000;
const maxTotalBytes = 128 * 1024 * 1024;

/** Writes the files of the project to a ZIP archive. The same content always makes the same bytes. */
export async function exportProject(client: Client, archive: string, { only = [] }: Selection): Promise<void> {
  await inFolder(async (root) => {
    await pullFiles(client, root, { only });
    const names = kinds.flatMap(({ folder }) => filesBelow(root, folder)).sort();
    const files = Object.fromEntries(names.map((name) => [name, readFileSync(path.join(root, name))]));
    writeFileSync(archive, zipSync(files, { mtime: new Date('2026-01-01T00:00:00') }));
    print(`${archive} has ${names.length} files.`);
  });
}

/** Saves the files of an archive in the project, as `push` does. With `plan`, only shows what differs. */
export async function importProject(
  client: Client,
  archive: string,
  options: PushOptions & { plan?: boolean },
): Promise<boolean> {
  const files = await readArchive(archive);
  return inFolder(async (root) => {
    for (const [name, text] of files) writeText(root, name, text);
    if (options.plan) return plan(client, root, options);
    await push(client, root, {
      ...options,
      whatToDo: 'exists in the project with other content; `gcs import --force` overwrites it',
    });
    return false;
  });
}

/** Works in a folder that exists only meanwhile. */
async function inFolder<T>(work: (root: string) => Promise<T>): Promise<T> {
  const root = mkdtempSync(path.join(tmpdir(), 'gcs-'));
  try {
    prepare(root);
    return await work(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

function filesBelow(root: string, folder: string): string[] {
  if (!lstatSync(path.join(root, folder), { throwIfNoEntry: false })) return [];
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'));
}

/** Returns the texts of an archive by their names. @throws Problem if it is not an archive of a project */
async function readArchive(archive: string): Promise<Map<string, string>> {
  const stats = statSync(archive, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new Problem(`${archive}: there is no such file`);
  if (stats.size > maxTotalBytes) throw tooLarge(archive, `more than ${maxTotalBytes} bytes`);
  try {
    return await textsIn(await fromBufferPromise(readFileSync(archive), { lazyEntries: true }), archive);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(
      `${archive}: is not a ZIP archive that can be read: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

async function textsIn(zip: ZipFile, archive: string): Promise<Map<string, string>> {
  if (zip.entryCount > maxFiles) throw tooLarge(archive, `more than ${maxFiles} files`);
  const texts = new Map<string, string>();
  const seen = new Set<string>();
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const problem = problemOf(entry, seen);
    if (problem !== undefined) throw new Problem(`${archive}: ${JSON.stringify(entry.fileName)} ${problem}`);
    total += entry.uncompressedSize;
    if (total > maxTotalBytes) throw tooLarge(archive, `more than ${maxTotalBytes} bytes when unpacked`);
    // The stream fails if the entry has more bytes than it states.
    const bytes = await buffer(await zip.openReadStreamPromise(entry));
    texts.set(entry.fileName, new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  }
  return texts;
}

const folders = kinds.map(({ folder }) => folder).join('|');
/** The names of files that {@link exportProject} writes. Paths that leave the folder are none of them. */
const names = new RegExp(`^(?:(?:${folders})/[^/]+\\.yaml|agentflows/(?:[^/]+/)*[^/]+\\.md)$`);
/** The types of files in the mode of an entry; none if the archive does not come from Unix. */
const typeBits = 0o170000;
const regular = 0o100000;

function problemOf({ fileName: name, externalFileAttributes, uncompressedSize }: Entry, seen: Set<string>) {
  const type = (externalFileAttributes >>> 16) & typeBits;
  if (type !== 0 && type !== regular) return 'must be a file, not a link or a device';
  const isHidden = name.split('/').some((part) => part.startsWith('.') || /[\p{C}:]/u.test(part));
  if (!names.test(name) || isHidden) return `must be a file of a project, such as agentflows/greeter.yaml`;
  if (uncompressedSize > maxBytes) return `must have at most ${maxBytes} bytes, and has ${uncompressedSize}`;
  // Some file systems take such names for the same.
  const folded = name.normalize('NFC').toLowerCase();
  if (seen.has(folded)) return 'must not be there twice';
  seen.add(folded);
  return undefined;
}

function tooLarge(archive: string, what: string): Problem {
  return new Problem(`${archive}: has ${what}; an archive of a project has less`);
}
