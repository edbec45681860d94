import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { failureOf } from '../failure.js';
import { epochSeconds } from '../time.js';
import type { RememberActivities } from './activities.js';
import {
  decideMemoryUpdate,
  rememberStateQuery,
  type MemoryDecision,
  type MemoryEnd,
  type MemoryStatus,
  type RememberInput,
  type RememberState,
} from './messages.js';

const reviewMs = 7 * 24 * 3600 * 1000;
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' } as const;
const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;
const { extractMemoryPart } = proxyActivities<RememberActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '15s',
  scheduleToCloseTimeout: '24h',
  cancellationType,
  // Each attempt may cost credits.
  retry: { ...retry, maximumAttempts: 10 },
  summary: 'ask the model about a part',
});
const { saveMemoryPart } = proxyActivities<RememberActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '15s',
  scheduleToCloseTimeout: '24h',
  cancellationType,
  retry,
  summary: 'write a part into the graph',
});
const { askForReview, finishMemory } = proxyActivities<RememberActivities>({
  startToCloseTimeout: '1m',
  scheduleToCloseTimeout: '24h',
  retry,
  summary: 'record the state',
});

/**
 * Extracts the facts of a text, waits for a review if there is one, and then writes them. Nothing is written unless all
 * parts were extracted.
 */
export async function remember(memory: RememberInput): Promise<{ status: MemoryEnd }> {
  const state: RememberState = { phase: 'extracting', extracted: 0, written: 0 };
  const work = new CancellationScope();
  let decided: MemoryDecision | null = null;
  setHandler(rememberStateQuery, () => state, { description: 'The phase, and the read and written parts' });
  setHandler(
    decideMemoryUpdate,
    (given: MemoryDecision): MemoryStatus => {
      decided = given;
      if (given.decision === 'cancel') work.cancel();
      return statusAfter[given.decision];
    },
    {
      description: 'Approve or reject what was found, or cancel',
      validator: ({ decision }: MemoryDecision) => refuseDecision(state, decided, decision),
    },
  );

  let failure: ApplicationFailure | null = null;
  let status: MemoryEnd = 'completed';
  try {
    await work.run(async () => {
      if (await isApproved(memory, state, () => decided)) await writeAll(memory, state);
      // A cancel can follow an approval before the workflow has seen it.
      else status = decided?.decision === 'cancel' ? 'cancelled' : 'rejected';
    });
  } catch (error) {
    status = isCancellation(error) ? 'cancelled' : 'failed';
    if (status === 'failed') failure = toFailure(error);
  }
  state.phase = 'ended';
  const message = failure?.message ?? null;
  const by = (decided as MemoryDecision | null)?.by ?? null;
  await CancellationScope.nonCancellable(() =>
    finishMemory({ memory, status, failure: message, decided_by: by, ended_at: epochSeconds() }),
  );
  setCurrentDetails(`Memory: ${status}`);
  if (failure) throw failure;
  return { status };
}

const statusAfter = { approve: 'running', reject: 'rejected', cancel: 'cancelled' } as const;

function refuseDecision({ phase }: RememberState, decided: MemoryDecision | null, decision: string): void {
  const refused = (message: string) => ApplicationFailure.nonRetryable(message, 'conflict');
  if (phase === 'ended') throw refused('the memory has ended');
  if (decision === 'cancel') {
    if (decided?.decision === 'reject') throw refused('the memory was rejected');
    return;
  }
  if (phase !== 'waiting' || decided) throw refused('the memory does not wait for a review');
}

/** Extracts all parts, and waits for the review. A review that nobody decides counts as rejected. */
async function isApproved(
  memory: RememberInput,
  state: RememberState,
  decided: () => MemoryDecision | null,
): Promise<boolean> {
  for (let part = 0; part < memory.parts; part += 1) {
    setCurrentDetails(`Memory: part ${part + 1} of ${memory.parts} is read`);
    await extractMemoryPart({ memory, part });
    state.extracted += 1;
  }
  if (!memory.review) return true;
  const asked_at = epochSeconds();
  state.phase = 'waiting';
  await askForReview({ memory, asked_at, until: asked_at + reviewMs / 1000 });
  setCurrentDetails('Memory: waits for a review');
  await condition(() => decided() !== null, reviewMs, { summary: 'the review expires' });
  return decided()?.decision === 'approve';
}

async function writeAll(memory: RememberInput, state: RememberState): Promise<void> {
  state.phase = 'writing';
  for (let part = 0; part < memory.parts; part += 1) {
    setCurrentDetails(`Memory: part ${part + 1} of ${memory.parts} is written`);
    await saveMemoryPart({ memory, part });
    state.written += 1;
  }
}

function toFailure(error: unknown): ApplicationFailure {
  const { type, message } = failureOf(error, 'remember_failed');
  return ApplicationFailure.nonRetryable(message, type);
}
