import { describe, expect, test } from '@jest/globals';
import { defaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { pendingStep } from '../../../src/domain/executions/pending-step.js';

const loadedDataConverter = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: defaultFailureConverter,
  payloadCodecs: [],
};
const temporal = { client: { options: { loadedDataConverter } } } as never;
const attempts = [
  { attempt: 128, started_at: 1, ended_at: 2, error: 'answered with status 503' },
  { attempt: 129, started_at: 4, ended_at: null, error: null },
];

const pendingWith = (lastFailure: object) => {
  const heartbeatDetails = { payloads: [defaultPayloadConverter.toPayload(attempts)] };
  const activity = { activityType: { name: 'callAction' }, attempt: 129, lastFailure, heartbeatDetails };
  return pendingStep({ temporal }, { raw: { pendingActivities: [activity] } } as never);
};

describe('a step that is being retried', () => {
  test('shows why its last attempt failed, also if Temporal did not keep the failure', async () => {
    const dropped = { message: 'Failure exceeds size limit.', serverFailureInfo: {} };
    expect(await pendingWith(dropped)).toMatchObject({ attempts: 129, error: 'answered with status 503' });
  });

  test('shows the failure that Temporal kept', async () => {
    const kept = { message: 'the whole text of the failure', applicationFailureInfo: { type: 'action_failed' } };
    expect(await pendingWith(kept)).toMatchObject({ error: 'the whole text of the failure' });
  });
});
