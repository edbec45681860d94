import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isTransientStatus, retryAfterMs } from '../../src/outbound/retry-hints.js';

const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');

describe('retryAfterMs', () => {
  test.each([
    ['0', 0],
    ['7', 7000],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
    ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
    ['86400', 300_000],
    ['Thu, 22 Oct 2026 07:28:00 GMT', 300_000],
  ])('reads %j', (header, expected) => expect(retryAfterMs(header, now)).toBe(expected));

  test('reads a date without a zone as UTC, whatever the zone of the process', () => {
    const code = `import { retryAfterMs } from ${JSON.stringify(path.resolve('dist/src/outbound/retry-hints.js'))};
      console.log(retryAfterMs('Wed Oct 21 07:28:30 2026', ${now}), retryAfterMs('Sun Nov  1 07:28:30 2026', ${now}));`;
    const env = { ...process.env, TZ: 'Asia/Tokyo', NODE_OPTIONS: '' };
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', code], { env, encoding: 'utf8' });
    expect(output.trim()).toBe('30000 300000');
  });

  test.each([undefined, null, '', 'soon', '-5', '1.5', '2026'.repeat(2) + 'x'])('ignores %j', (header) => {
    expect(retryAfterMs(header, now)).toBeUndefined();
  });
});

describe('isTransientStatus', () => {
  test.each([408, 425, 429, 500, 502, 503, 504])('takes %d as passing', (status) =>
    expect(isTransientStatus(status)).toBe(true),
  );
  test.each([301, 400, 401, 403, 404, 409, 422])('takes %d as final', (status) =>
    expect(isTransientStatus(status)).toBe(false),
  );
});
