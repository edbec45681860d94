import { z } from 'zod';
import { AppError } from '../../errors.js';
import type { PlatformPorts } from '../ports.js';
import { defineTool, type Tool } from '../tool.js';

const moves = ['pause', 'resume', 'cancel'] as const;
type Move = (typeof moves)[number];

const Input = z
  .strictObject({
    operation: z.enum(['list', 'get', ...moves]),
    execution_id: z.string().min(1).max(100).optional().meta({ description: 'Required but for `list`.' }),
    reason: z.string().max(500).optional(),
    limit: z.int().min(1).max(200).default(50),
  })
  .meta({ id: 'OrchestrateInput', example: { operation: 'pause', execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10' } });

const Summary = z.looseObject({ execution_id: z.string(), status: z.string() });
type Answer = { executions?: z.infer<typeof Summary>[]; execution?: z.infer<typeof Summary> };
const Output = z.object({ executions: z.array(Summary).optional(), execution: Summary.optional() });

function isMove(operation: unknown): operation is Move {
  return moves.includes(operation as Move);
}

function grantOf(raw: unknown): 'svc:orchestrate.read' | 'svc:orchestrate.write' {
  const operation = typeof raw === 'object' && raw !== null && 'operation' in raw ? raw.operation : undefined;
  return isMove(operation) ? 'svc:orchestrate.write' : 'svc:orchestrate.read';
}

/** Looks at executions and moves them (contract, `POST /v1/orchestrate`). */
export function createOrchestrateTool({ executions }: Pick<PlatformPorts, 'executions'>): Tool {
  return defineTool({
    name: 'orchestrate',
    title: 'Look at and steer executions',
    description: 'Lists or reads executions; pauses, resumes or cancels one.',
    grant: grantOf,
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
      const { status } = isMove(operation) ? await executions.checkMove(principal, execution_id, operation) : await executions.get(principal, execution_id);
      return { [operation]: { execution_id, status } };
    },
    execute: async ({ operation, execution_id, reason, limit }, { principal }): Promise<{ body: Answer }> => {
      if (operation === 'list') return { body: { executions: (await executions.list(principal, limit)).map((summary) => ({ ...summary })) } };
      if (operation === 'get') return { body: { execution: await executions.get(principal, execution_id) } };
      return { body: { execution: { ...(await executions.move(principal, execution_id, operation, reason)) } } };
    },
  });
}
