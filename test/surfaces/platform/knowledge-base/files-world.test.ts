import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { sniffedBytes, typeOf } from '../../../../src/domain/files/mime-type.js';
import { extractText } from '../../../../src/domain/knowledge/extract.js';
import { packageRoot } from '../../../../src/package-root.js';
import { verifies } from '../../../support/verifies.js';
import { expectSources, readWorld } from '../../../support/world.js';

/** A file of another project: its bytes, or its place in an installed package. */
interface Case {
  name: string;
  source: string;
  licence: string;
  base64?: string;
  path?: string;
  /** What the text must contain. */
  words?: string[];
  /** Why the file cannot be read. */
  refusal?: string;
}

const world = readWorld<Case>('files');
const cases = world.cases.map((each) => ({ ...each, title: `${each.file}: ${each.name}` }));

test('there are files of several formats, each with its public source', () => {
  verifies('knowledge-base.world');
  expectSources(world, cases, { files: 2, cases: 19 });
});

test.each(cases)('$title', async ({ name, base64, path: place = '', words, refusal }) => {
  verifies('knowledge-base.world');
  const bytes = base64 === undefined ? readFileSync(path.join(packageRoot, place)) : Buffer.from(base64, 'base64');
  const { mimeType } = await typeOf(bytes.subarray(0, sniffedBytes), bytes.length <= sniffedBytes, name);
  const text = extractText(new Uint8Array(bytes), mimeType);
  if (refusal !== undefined) return expect(text).rejects.toThrow(refusal);
  for (const word of words ?? []) expect(await text).toContain(word);
});
