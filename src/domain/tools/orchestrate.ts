import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import type { Deps } from '../deps.js';
import { checkMove, move } from '../executions/operations/moves.js';
import { listNewest, readLive } from '../executions/operations/live.js';
import { isMove, moves, steerRules } from '../executions/rules.js';
import { defineTool } from '../../governance/tools/tool.js';
import { Id, exampleId } from '../../base/ids.js';

const Input = z
  .strictObject({
    operation: z.enum(['list', 'get', ...moves]),
    execution_id: z.string().min(1).max(100).optional().describe('Required except for `list`.'),
    reason: z.string().max(500).optional(),
    limit: z.int().min(1).max(200).default(50),
  })
  .meta({ id: 'OrchestrateInput', example: { operation: 'pause', execution_id: exampleId } });

const Summary = z.looseObject({ execution_id: Id, status: z.string().meta({ example: 'running' }) });
type Answer = { executions?: z.infer<typeof Summary>[]; execution?: z.infer<typeof Summary> };
const Output = z
  .object({ executions: z.array(Summary).optional(), execution: Summary.optional() })
  .meta({ id: 'Orchestrated' });

/** Lists, reads, pauses, resumes and cancels executions (contract, `POST /v1/orchestrate`). */
export const orchestrateTool = defineTool(steerRules, (deps: Deps) => ({
  title: 'View and control executions',
  description: 'Lists or reads executions; pauses, resumes or cancels one.',
  input: Input,
  output: Output,
  hints: { readOnly: false, destructive: true, idempotent: false },
  resource: ({ execution_id }) => ({ type: 'execution', id: execution_id ?? '*' }),
  prepare: async (input) => {
    if (input.operation !== 'list' && input.execution_id === undefined) {
      throw new AppError('invalid_request', `execution_id: required for ${input.operation}`);
    }
    return { ...input, execution_id: input.execution_id ?? '' };
  },
  dryRun: async ({ operation, execution_id }, { principal }) => {
    if (operation === 'list') return { list: 'executions of the project' };
    const { status } = isMove(operation)
      ? await checkMove(deps, principal, execution_id, operation)
      : await readLive(deps, principal, execution_id);
    return { [operation]: { execution_id, status } };
  },
  execute: async ({ operation, execution_id, reason, limit }, { principal }): Promise<{ body: Answer }> => {
    if (operation === 'list')
      return { body: { executions: (await listNewest(deps, principal, limit)).map((summary) => ({ ...summary })) } };
    if (operation === 'get') return { body: { execution: await readLive(deps, principal, execution_id) } };
    return { body: { execution: { ...(await move(deps, principal, execution_id, operation, { reason })) } } };
  },
}));
