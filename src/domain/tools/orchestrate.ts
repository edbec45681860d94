import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import { exampleId, Id } from '../../base/ids.js';
import { toolCase, multiplexedTool } from '../../governance/tools/tool.js';
import { listNewest, readLive } from '../executions/operations/live.js';
import { cancelExecution, pauseExecution, resumeExecution } from '../executions/operations.js';
import { moves, steerRules } from '../executions/rules.js';
import { defineOperation, readsOwn, type DomainOperation, type DomainTool } from '../operation.js';

const Input = z
  .strictObject({
    operation: z.enum(['list', 'get', ...moves]),
    execution_id: z.string().min(1).max(100).optional().describe('Required except for `list`.'),
    reason: z.string().max(500).optional(),
    limit: z.int().min(1).max(200).default(50),
  })
  .meta({ id: 'OrchestrateInput', example: { operation: 'pause', execution_id: exampleId } });

type Input = z.output<typeof Input>;

const Summary = z.looseObject({ execution_id: Id, status: z.string().meta({ example: 'running' }) });
const Output = z
  .object({ executions: z.array(Summary).optional(), execution: Summary.optional() })
  .meta({ id: 'Orchestrated' });

const listRuns = defineOperation({
  ...steerRules,
  ...readsOwn,
  fixedFacts: { operation: 'list' },
  input: z.object({ limit: z.int() }),
  output: z.array(Summary),
  resource: () => ({ type: 'execution', id: '*' }),
  dryRun: async () => ({ list: 'executions of the project' }),
  run: async ({ deps, ctx, input }) =>
    (await listNewest(deps, ctx.principal, input.limit)).map((summary) => ({ ...summary })),
});

const readRun = defineOperation({
  ...steerRules,
  ...readsOwn,
  fixedFacts: { operation: 'get' },
  key: z.object({ execution_id: z.string() }),
  output: Summary,
  resource: ({ key }) => ({ type: 'execution', id: key.execution_id }),
  async dryRun({ deps, ctx, key: { execution_id } }) {
    const { status } = await readLive(deps, ctx.principal, execution_id);
    return { get: { execution_id, status } };
  },
  run: async ({ deps, ctx, key }) => ({ ...(await readLive(deps, ctx.principal, key.execution_id)) }),
});

const ofRun = (operation: DomainOperation) =>
  toolCase(
    operation,
    ({ operation: name, execution_id, reason }: Input) => {
      if (execution_id === undefined) throw new AppError('invalid_request', `execution_id: required for ${name}`);
      return { key: { execution_id }, input: { reason } };
    },
    (execution: unknown) => ({ execution }),
  );

/** Lists, reads, pauses, resumes and cancels executions (docs/specification.md, `POST /v1/orchestrate`). */
export const orchestrateTool: DomainTool = multiplexedTool({
  name: 'orchestrate',
  title: 'View and control executions',
  description: 'Lists or reads executions; pauses, resumes or cancels one.',
  hints: { readOnly: false, destructive: true, idempotent: false },
  input: Input,
  output: Output,
  choose: ({ operation }) => operation,
  cases: {
    list: toolCase(
      listRuns,
      ({ limit }: Input) => ({ input: { limit } }),
      (executions: unknown) => ({ executions }),
    ),
    get: ofRun(readRun),
    pause: ofRun(pauseExecution),
    resume: ofRun(resumeExecution),
    cancel: ofRun(cancelExecution),
  },
});
