import { ApplicationFailure, isCancellation, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { epochSeconds } from '../time.js';
import { timeOrderedId } from '../time-ordered-id.js';
import type { ConnectorLoadActivities } from './activities.js';
import type { ConnectorLoadInput, ConnectorLoadResult } from './messages.js';

const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' } as const;
const { loadConnector } = proxyActivities<ConnectorLoadActivities>({
  startToCloseTimeout: '1h',
  heartbeatTimeout: '15s',
  // The next firing loads from a source that is unavailable for longer.
  retry: { ...retry, maximumAttempts: 8 },
  summary: 'read the records and write them into the graph',
});
const { alignLoadSchedule } = proxyActivities<ConnectorLoadActivities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '24h',
  retry,
  summary: 'align the schedule with the connector',
});
const { recordConnectorLoad } = proxyActivities<ConnectorLoadActivities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '24h',
  retry,
  summary: 'record the load',
});

/** One load of a connector's data, started by its schedule. */
export async function connectorLoad(input: ConnectorLoadInput): Promise<ConnectorLoadResult> {
  const load = { ...input, lifecycle_id: timeOrderedId() };
  const started_at = epochSeconds();
  try {
    const result = await loadWhenStored(load);
    setCurrentDetails(`${result.outcome}: ${result.saved} records saved, ${result.skipped} skipped`);
    if (result.outcome === 'loaded') await recordConnectorLoad({ ...load, started_at, result, failure: null });
    else await alignLoadSchedule(input);
    return result;
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { type, message } = failureOf(error, 'load_failed');
    await recordConnectorLoad({ ...load, started_at, result: null, failure: message });
    throw ApplicationFailure.nonRetryable(message, type);
  }
}

/** The schedule is created before its connector is stored or activated, so a missing connector is looked up a second time. */
async function loadWhenStored(load: Parameters<typeof loadConnector>[0]): Promise<ConnectorLoadResult> {
  const first = await loadConnector(load);
  if (first.outcome === 'loaded') return first;
  await sleep('15s', { summary: 'the connector may not be stored yet' });
  return loadConnector(load);
}
