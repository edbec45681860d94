import { createChainCheck, type ChainCheck, type ChainVerdict } from './chain-check.js';
import type { AuditEntry } from './entry.js';
import { ExportLine } from './export.js';
import { checkStatements, type Checkpoint } from './statement.js';

export type FileVerdict =
  | { status: 'valid'; entries: number; headHash: string; checkpoints: number; ownKeys: boolean }
  | { status: 'broken'; seq: number | null; reason: string }
  | { status: 'unusable'; reason: string };

/** All parts of the file except the entries; small compared to them. */
interface Frame {
  organization: string;
  statements: string[];
  jwks: { keys: object[] };
  /** The number of entries according to the last line. */
  entries: number;
}

class Unusable extends Error {}

/**
 * Checks an export without the service: hashes, links, signatures, and that the last checkpoint covers the last entry.
 * Calls `open` twice, because the statements and keys follow the entries in the file. Without `jwks`, uses the keys in
 * the file, which proves that the file is consistent but not who created it.
 */
export async function verifyAuditFile(
  open: () => AsyncIterable<string>,
  options: { jwks?: { keys: object[] } } = {},
): Promise<FileVerdict> {
  try {
    const frame = await readFrame(open());
    const { sound, problem } = await checkStatements(frame.organization, frame.statements, options.jwks ?? frame.jwks);
    const check = createChainCheck(frame.organization, sound);
    await checkEntries(open(), check);
    const chain = check.end();
    if (chain.finding) return { status: 'broken', ...chain.finding };
    if (problem)
      return {
        status: 'broken',
        seq: problem.soundEntries < chain.entries ? problem.soundEntries + 1 : null,
        reason: problem.reason,
      };
    return conclude(chain, frame, sound, options.jwks === undefined);
  } catch (error) {
    if (error instanceof Unusable) return { status: 'unusable', reason: error.message };
    throw error;
  }
}

function conclude(chain: ChainVerdict, frame: Frame, sound: readonly Checkpoint[], ownKeys: boolean): FileVerdict {
  const covered = sound.at(-1)?.entries ?? 0;
  if (chain.entries !== frame.entries) {
    return {
      status: 'broken',
      seq: Math.min(chain.entries, frame.entries) + 1,
      reason: `the file contains ${chain.entries} entries, but its last line states ${frame.entries}`,
    };
  }
  if (covered < chain.entries)
    return { status: 'broken', seq: covered + 1, reason: 'no checkpoint covers this entry and those after it' };
  return { status: 'valid', entries: chain.entries, headHash: chain.headHash, checkpoints: sound.length, ownKeys };
}

async function readFrame(lines: AsyncIterable<string>): Promise<Frame> {
  let organization: string | undefined;
  let entries: number | undefined;
  const statements: string[] = [];
  const keys: object[] = [];
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.startsWith('{"kind":"entry"') || text === '') continue;
    const line = ExportLine.safeParse(parse(text, number)).data;
    if (!line) throw new Unusable(`line ${number} is not a line of an audit export`);
    if (line.kind === 'export') organization = line.organization;
    if (line.kind === 'checkpoint') statements.push(line.statement);
    if (line.kind === 'jwks') keys.push(...line.keys);
    if (line.kind === 'end') entries = line.entries;
  }
  if (organization === undefined) throw new Unusable('the file is not an audit export: its header is missing');
  if (entries === undefined) throw new Unusable('the file is incomplete: its last line is missing');
  return { organization, statements, jwks: { keys }, entries };
}

async function checkEntries(lines: AsyncIterable<string>, check: ChainCheck): Promise<void> {
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (!text.startsWith('{"kind":"entry"')) continue;
    const { entry } = parse(text, number) as { entry?: AuditEntry | null };
    // No schema check is needed: an entry with another structure has another hash.
    if (typeof entry !== 'object' || entry === null) throw new Unusable(`line ${number} does not contain an entry`);
    check.take(entry);
  }
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unusable(`line ${number} is not JSON`);
  }
}
