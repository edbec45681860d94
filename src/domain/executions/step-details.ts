import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { notFound } from '../../base/errors.js';
import { Id } from '../../base/ids.js';
import { EpochSeconds } from '../../base/time.js';
import type { Deps } from '../deps.js';
import { readExchanges, type Exchange as Kept } from './exchanges.js';
import { monitor, Step } from './monitoring.js';

const Exchange = z
  .object({
    attempt: z.int().meta({ example: 1 }),
    started_at: EpochSeconds,
    ended_at: EpochSeconds.optional().describe('Absent while the attempt runs, and if its worker was lost.'),
    lifecycle_id: Id.optional().describe('The governed call of the attempt.'),
    prompt: z
      .object({
        model: z.string().meta({ example: 'gpt-5-mini' }),
        temperature: z.number().nullable().describe('Null if it was not sent.').meta({ example: null }),
        max_tokens: z.int().nullable().describe('Null if no limit was sent.').meta({ example: null }),
        tools: z.array(z.string().meta({ example: 'look_up' })),
        messages: z.array(
          z.object({
            role: z.string().meta({ example: 'user' }),
            content: z.string().meta({ example: 'Read the claim C-1042' }),
          }),
        ),
      })
      .optional()
      .describe('What the model was sent.'),
    input: z.unknown().optional().describe('The values of the action’s fields, or what the step worked on.'),
    request: z
      .unknown()
      .optional()
      .describe(
        'The call that was sent: `{method, url, headers, body?}` over HTTP, the letter of a mail, or the tool and arguments of an MCP server. Headers of the connector have the value `[secret]`.',
      ),
    response: z
      .object({
        status: z.int().meta({ example: 422 }),
        headers: z
          .record(z.string(), z.string())
          .describe('Without headers that can contain credentials.')
          .meta({ example: { 'content-type': 'application/json' } }),
        body: z.unknown().optional().describe('Absent if it became the output.'),
      })
      .optional()
      .describe('The last HTTP answer.'),
    log: z
      .array(z.string().meta({ example: '3 items' }))
      .optional()
      .describe('The lines that the code of a `code` step wrote with `console`.'),
    output: z.unknown().optional().describe('What the step received. Absent if it failed.'),
  })
  .meta({ id: 'StepExchange' });

export const StepDetails = z
  .object({
    execution_id: Id,
    number: z.int().meta({ example: 1 }),
    step: Step,
    exchanges: z
      .array(Exchange)
      .describe(
        'What the last five attempts sent and received, each part cut after 64 KiB, without secrets and personal data. Kept for 30 days.',
      ),
  })
  .meta({ id: 'ExecutionStepDetails' });

/** One step of a run, by its position from 1. @throws AppError `not_found` for an execution or step that does not exist */
export async function readStep(
  deps: Deps,
  principal: Principal,
  executionId: string,
  number: number,
): Promise<z.infer<typeof StepDetails>> {
  const { steps } = await monitor(deps, principal, executionId);
  const step = steps[number - 1];
  if (!step) throw notFound('the step');
  const { collections } = deps.mongo;
  const exchanges = await readExchanges({ collections, secrets: deps.auth.box }, executionId, step.step_id);
  const contents = await deps.redact(exchanges.map(contentOf), principal.organizationId);
  return {
    execution_id: executionId,
    number,
    step,
    exchanges: exchanges.map((exchange, at) => ({ ...exchange, ...contents[at] })),
  };
}

/** The parts that can contain secrets or personal data. */
function contentOf({ prompt, input, request, response, log, output }: Kept) {
  return { prompt, input, request, response, log, output };
}
