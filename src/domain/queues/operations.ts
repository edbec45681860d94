import { z } from 'zod';
import { queueNames } from '../../temporal/queue-facts.js';
import { epochSeconds } from '../../base/time.js';
import { defineOperation, reads } from '../operation.js';
import { queueStates, stateOfQueue } from './rules.js';

const Queues = z
  .object({
    queues: z.array(
      z.object({
        name: z
          .enum(queueNames)
          .describe(
            '`workflows`: decisions of workflows. `control`: bookkeeping. `steps`: calls of models and external servers. `bulk`: loads, syncs and embeddings.',
          )
          .meta({ example: 'steps' }),
        state: z
          .enum(queueStates)
          .describe(
            '`delayed`: the oldest task waits for more than ten seconds. `no_workers`: no worker has asked for a task for some minutes: none runs, or none has a free place.',
          )
          .meta({ example: 'ok' }),
        oldest_waits_seconds: z
          .number()
          .nullable()
          .describe('For how long the oldest task waits; null if none waits.')
          .meta({ example: null }),
        temporal_ui_url: z
          .string()
          .meta({ example: 'http://localhost:8233/namespaces/default/task-queues/workflow-platform' }),
      }),
    ),
  })
  .meta({ id: 'Queues' });

/**
 * The queues serve every project of the deployment, so the answer is the same in all of them. It contains no counts,
 * because they would reveal how much work other organizations have.
 */
export const readQueues = defineOperation({
  name: 'queue.read',
  ...reads,
  output: Queues,
  errors: ['unavailable'],
  async run({ deps }) {
    const facts = await deps.queueFacts();
    const now = epochSeconds();
    return {
      queues: facts.map(({ name, askedAt, waitingSince, uiUrl }) => ({
        name,
        state: stateOfQueue({ askedAt, waitingSince }, now),
        oldest_waits_seconds: waitingSince === null ? null : Math.max(0, now - waitingSince),
        temporal_ui_url: uiUrl,
      })),
    };
  },
});
