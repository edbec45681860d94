import { describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExportLine } from '../../src/governance/audit/export.js';
import { verifyAuditFile } from '../../src/governance/audit/verify-file.js';
import { packageRoot } from '../../src/base/packages.js';
import { useDeps } from '../support/fixture.js';
import { createTestChain, type TestChain } from '../support/governance/chains.js';
import { createLocalSigner } from '../support/governance/local-signer.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();
const folder = mkdtempSync(path.join(tmpdir(), 'exports-'));

async function exported(chain: TestChain): Promise<string> {
  let text = '';
  for await (const chunk of chain.audit.export(chain.organizationId)) text += chunk;
  return text;
}

async function sealedExport(): Promise<{ chain: TestChain; lines: ExportLine[] }> {
  const chain = await createTestChain(deps);
  await chain.append(12);
  await chain.audit.checkpoint(chain.organizationId);
  await chain.append(8);
  const text = await exported(chain);
  return {
    chain,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as ExportLine),
  };
}

async function* linesOf(lines: readonly (ExportLine | string)[]): AsyncGenerator<string> {
  for (const line of lines) yield typeof line === 'string' ? line : JSON.stringify(line);
}
const verdictOn = (lines: readonly (ExportLine | string)[], jwks?: { keys: object[] }) =>
  verifyAuditFile(() => linesOf(lines), jwks ? { jwks } : {});
const entriesIn = (lines: ExportLine[]) => lines.flatMap((line) => (line.kind === 'entry' ? line.entry : []));

/** Runs the command as a user does. */
function command(...args: string[]): Promise<{ code: number; output: string }> {
  const script = path.join(packageRoot, 'dist/src/cli/verify-audit.js');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env: { PATH: process.env.PATH } }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout + stderr });
    });
  });
}

describe('an export of an audit chain', () => {
  test('contains every entry, then the checkpoints over them, the keys and an end', async () => {
    verifies('gateway.audit.export');
    const { chain, lines } = await sealedExport();
    expect(lines.map(({ kind }) => kind)).toEqual([
      'export',
      ...Array.from({ length: 20 }, () => 'entry'),
      'checkpoint',
      'checkpoint',
      'jwks',
      'end',
    ]);
    expect(entriesIn(lines)).toEqual((await chain.stored()).map(({ _id, ...entry }) => entry));
    const verdict = await verdictOn(lines, await chain.signer.jwks());
    expect(verdict).toEqual({
      status: 'valid',
      entries: 20,
      checkpoints: 2,
      headHash: (await chain.stored()).at(-1)?.hash,
      ownKeys: false,
    });
  });

  test('of an empty chain is valid', async () => {
    const chain = await createTestChain(deps);
    const lines = (await exported(chain)).trimEnd().split('\n');
    expect(await verdictOn(lines)).toMatchObject({ status: 'valid', entries: 0 });
  });

  test('of a chain longer than one chunk is streamed in pieces', async () => {
    const chain = await createTestChain(deps);
    await chain.append(600);
    const chunks: string[] = [];
    for await (const chunk of chain.audit.export(chain.organizationId)) chunks.push(chunk);
    expect(chunks.length).toBeGreaterThan(2);
    expect(await verdictOn(chunks.join('').trimEnd().split('\n'))).toMatchObject({ status: 'valid', entries: 600 });
  });

  test('of a broken chain shows the position of the break', async () => {
    const { chain } = await sealedExport();
    await chain.append(5);
    await chain.remove(23);
    expect(await verdictOn((await exported(chain)).trimEnd().split('\n'))).toMatchObject({ status: 'broken', seq: 23 });
  });

  test.each<[string, number | null, (lines: ExportLine[]) => ExportLine[]]>([
    [
      'a changed entry',
      3,
      (lines) =>
        lines.map((line) =>
          line.kind === 'entry' && line.entry.seq === 3 ? { ...line, entry: { ...line.entry, actor: 'x' } } : line,
        ),
    ],
    ['a removed entry', 3, (lines) => lines.filter((line) => line.kind !== 'entry' || line.entry.seq !== 3)],
    ['a cut tail', 19, (lines) => lines.filter((line) => line.kind !== 'entry' || line.entry.seq < 19)],
    [
      'a cut tail without its checkpoint',
      13,
      (lines) => lines.filter((line, at) => (line.kind !== 'entry' || line.entry.seq < 13) && at !== 22),
    ],
    ['no checkpoints', 1, (lines) => lines.filter(({ kind }) => kind !== 'checkpoint')],
    ['a missing checkpoint', 13, (lines) => lines.filter((_line, at) => at !== 22)],
  ])('is broken with %s', async (_what, seq, change) => {
    const { chain, lines } = await sealedExport();
    expect(await verdictOn(change(lines), await chain.signer.jwks())).toMatchObject({ status: 'broken', seq });
  });

  test('is broken under keys other than those that signed it', async () => {
    const { lines } = await sealedExport();
    expect(await verdictOn(lines, await (await createLocalSigner()).jwks())).toMatchObject({
      status: 'broken',
      seq: 1,
    });
  });

  test.each<[string, (lines: ExportLine[]) => (ExportLine | string)[]]>([
    ['without its end', (lines) => lines.slice(0, -1)],
    ['without its heading', (lines) => lines.slice(1)],
    ['with a line that is not JSON', (lines) => ['nonsense', ...lines]],
    ['with half an entry', (lines) => [...lines, '{"kind":"entry","entry":{"seq']],
    ['with a line of another kind', (lines) => [...lines, '{"kind":"other"}']],
    ['that is empty', () => []],
  ])('cannot be checked %s', async (_what, change) => {
    const { lines } = await sealedExport();
    expect(await verdictOn(change(lines))).toMatchObject({ status: 'unusable' });
  });
});

describe('verify-audit', () => {
  test('returns 0 for a valid file, 1 and the entry for a broken one, 2 for a file that it cannot check', async () => {
    verifies('gateway.audit.export');
    const { chain } = await sealedExport();
    const text = await exported(chain);
    const [sound, broken, cut, keys] = ['sound.jsonl', 'broken.jsonl', 'cut.jsonl', 'jwks.json'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string, string];
    await writeFile(sound, text);
    await writeFile(broken, text.replace('"outcome":"completed"', '"outcome":"denied"'));
    await writeFile(cut, text.slice(0, text.length / 2));
    await writeFile(keys, JSON.stringify(await chain.signer.jwks()));
    expect(await command(sound)).toMatchObject({ code: 0, output: expect.stringContaining('valid: 20 entries') });
    expect(await command(sound, '--jwks', keys)).toMatchObject({ code: 0 });
    expect(await command(broken, '--jwks', keys)).toMatchObject({
      code: 1,
      output: expect.stringContaining('broken at entry 1'),
    });
    expect(await command(cut)).toMatchObject({ code: 2 });
    expect(await command(path.join(folder, 'none'))).toMatchObject({ code: 2 });
    expect(await command()).toMatchObject({ code: 2, output: expect.stringContaining('usage') });
    expect(await command(sound, '--jwks', sound)).toMatchObject({ code: 2 });
  });
});
