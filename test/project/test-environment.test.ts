import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('in the test environment', () => {
  test('errors of Node, of V8 and of the tests have the same classes', async () => {
    expect(thrownBy(() => readFileSync('/does/not/exist'))).toBeInstanceOf(Error);
    await expect(readFile('/does/not/exist')).rejects.toBeInstanceOf(Error);
    expect(thrownBy(() => new URL('not a URL'))).toBeInstanceOf(TypeError);
    expect(thrownBy(() => JSON.parse('{'))).toBeInstanceOf(SyntaxError);
    expect(thrownBy(() => 'x'.repeat(-1))).toBeInstanceOf(RangeError);
    expect(thrownBy(() => 'x'.repeat(-1))).toBeInstanceOf(Error);
    await expect(Promise.any([])).rejects.toBeInstanceOf(AggregateError);
  });
});
