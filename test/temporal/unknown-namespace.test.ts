import { expect, test } from '@jest/globals';
import { newId } from '../../src/base/ids.js';
import { useDeps } from '../support/fixture.js';

const { temporal } = useDeps({ TEMPORAL_NAMESPACE: 'unknown' });

test('a namespace that Temporal does not know is 503, because Temporal also reports this while its store fails', async () => {
  await expect(temporal.call((client) => client.workflow.getHandle(newId()).describe())).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the workflow service does not answer',
  });
});
