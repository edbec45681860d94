import { expect, test } from '@jest/globals';
import { deflateSync } from 'node:zlib';
import { createExtraction } from '../../../../src/domain/knowledge/extraction.js';
import { pdfOf } from './documents.js';

/** A page whose content is 300 MiB of spaces, in 600 KB. */
function bomb(): Buffer {
  const content = deflateSync(Buffer.alloc(300 * 1024 * 1024, ' ')).toString('hex');
  const stream = `<< /Length ${content.length} /Filter [/ASCIIHexDecode /FlateDecode] >>\nstream\n${content}\nendstream`;
  return Buffer.from(
    pdfOf(['x'])
      .toString()
      .replace(/<< \/Length \d+ >>\nstream\n.*\nendstream/, stream),
  );
}

test('a small PDF that takes much memory is refused, and the next document is read', async () => {
  const extract = createExtraction(150);
  const options = { owner: 'organization', signal: new AbortController().signal };
  await expect(extract('chunks', bomb(), 'application/pdf', options)).rejects.toMatchObject({
    code: 'validation_failed',
    message: 'the extraction needs too much memory',
  });
  expect(await extract('text', pdfOf(['x']), 'application/pdf', options)).toBe('x');
});
