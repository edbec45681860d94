import { expect, test } from '@jest/globals';
import { createOpenExecutionCounter } from '../../../src/observability/open-executions.js';
import { useDeps } from '../../support/fixture.js';
import { verifies } from '../../support/verifies.js';

const deps = useDeps();

test('a record store that hangs does not delay the metrics', async () => {
  verifies('operation.metrics.bounded');
  const hangs = Object.create(deps.mongo.collections.executions, {
    countDocuments: { value: () => new Promise(() => undefined) },
  });
  const count = createOpenExecutionCounter({ executions: hangs });
  await expect(count()).rejects.toThrow('does not answer');
  await expect(count()).rejects.toThrow('does not answer');
});
