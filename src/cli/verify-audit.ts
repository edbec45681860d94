#!/usr/bin/env node
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { verifyAuditFile, type FileVerdict } from '../governance/audit/verify-file.js';
import { printResult } from './print-result.js';

const usage = 'usage: verify-audit FILE [--jwks FILE]';

/** Returns the exit code: 0 if the export is valid, 1 if it is broken, 2 if it cannot be checked. */
async function main(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({ args, allowPositionals: true, options: { jwks: { type: 'string' } } });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(usage);
  const jwks = values.jwks === undefined ? undefined : await readJwks(values.jwks);
  const lines = () => createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  return report(await verifyAuditFile(lines, jwks ? { jwks } : {}));
}

async function readJwks(file: string): Promise<{ keys: object[] }> {
  const jwks = JSON.parse(await readFile(file, 'utf8')) as { keys?: unknown };
  if (!Array.isArray(jwks.keys)) throw new Error(`${file} is not a JWKS`);
  return { keys: jwks.keys as object[] };
}

function report(verdict: FileVerdict): number {
  if (verdict.status === 'unusable') return printResult(`not checked: ${verdict.reason}`, 2);
  if (verdict.status === 'broken')
    return printResult(`broken${verdict.seq === null ? '' : ` at entry ${verdict.seq}`}: ${verdict.reason}`, 1);
  const line = `valid: ${verdict.entries} entries, ${verdict.checkpoints} checkpoints, head ${verdict.headHash}`;
  const note =
    "checked with the file's own keys; pass --jwks with the keys that the service published to know who signed";
  return printResult(verdict.ownKeys ? `${line}\n${note}` : line, 0);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.exitCode = printResult(error instanceof Error ? error.message : String(error), 2);
}
