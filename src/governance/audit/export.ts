import { z } from 'zod';
import { AuditEntry } from './entry.js';
import { OrganizationId } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';

/**
 * One line of an export. The lines are a header, the entries, the signed statements, their public keys, and an end line
 * that shows that the file is complete.
 */
export const ExportLine = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('export'), format: z.literal(1), organization: OrganizationId, at: EpochSeconds }),
    z.object({ kind: z.literal('entry'), entry: AuditEntry }),
    z.object({ kind: z.literal('checkpoint'), statement: z.string() }),
    z.object({ kind: z.literal('jwks'), keys: z.array(z.looseObject({ kty: z.string() })) }),
    z.object({ kind: z.literal('end'), entries: z.int(), checkpoints: z.int() }),
  ])
  .meta({ id: 'AuditExportLine' });
export type ExportLine = z.infer<typeof ExportLine>;

interface ExportSource {
  organizationId: string;
  at: number;
  entries: AsyncIterable<AuditEntry & { _id: string }>;
  statements: readonly string[];
  jwks: { keys: object[] };
}

const chunkLength = 64 * 1024;

/** Yields the lines in chunks of about 64 KiB. Memory use does not depend on the length of the chain. */
export async function* exportLines(source: ExportSource): AsyncGenerator<string> {
  let chunk = line({ kind: 'export', format: 1, organization: source.organizationId, at: source.at });
  let entries = 0;
  for await (const { _id, ...entry } of source.entries) {
    chunk += line({ kind: 'entry', entry });
    entries += 1;
    if (chunk.length >= chunkLength) {
      yield chunk;
      chunk = '';
    }
  }
  for (const statement of source.statements) chunk += line({ kind: 'checkpoint', statement });
  chunk += line({ kind: 'jwks', keys: source.jwks.keys as { kty: string }[] });
  yield chunk + line({ kind: 'end', entries, checkpoints: source.statements.length });
}

function line(value: ExportLine): string {
  return `${JSON.stringify(value)}\n`;
}
