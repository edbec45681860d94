import path from 'node:path';
import type { Test } from '@jest/test-result';
import * as sequencing from '@jest/test-sequencer';
import { packageRoot } from '../../src/base/packages.js';

// The package's types describe its CommonJS form. At run time, this is the class itself.
const Sequencer = sequencing.default as unknown as typeof sequencing.default.default;

/** Files that start many processes or mostly wait. Each takes a minute or more. */
const long = [
  /^(start|crash|scale)\//,
  /^http\/(fuzz|event-loop|callback-event-loop)\./,
  /^graph\/guard\/work\./,
  /^packaging\/(compose|image)\./,
  /^guides\/guides\./,
  /^surfaces\/callbacks\/burst\./,
  /^surfaces\/(mcp\/limits|operation\/payload-encryption)\./,
];

/**
 * Jest orders files by size on a machine that has not run them before. Long files come first here, so that none of them
 * begins when the others have ended.
 */
export default class LongFirst extends Sequencer {
  override sort(tests: Test[]): Test[] {
    const isLong = (file: string) => {
      const name = path.relative(path.join(packageRoot, 'test'), file);
      return long.some((pattern) => pattern.test(name));
    };
    const ordered = super.sort(tests) as Test[];
    return [...ordered.filter((test) => isLong(test.path)), ...ordered.filter((test) => !isLong(test.path))];
  }
}
