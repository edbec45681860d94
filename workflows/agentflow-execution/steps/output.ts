import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Checks what the flow returns against its schema. */
interface OutputStep {
  kind: 'output';
  schema: Record<string, unknown>;
  output: unknown;
}

export interface CheckOutputRequest {
  idempotency_key: string;
  schema: Record<string, unknown>;
  output: unknown;
}

interface Activities {
  /** Fails with `output_invalid` if the output does not match. */
  checkOutput(request: CheckOutputRequest): Promise<StepResult<null>>;
}

export const output: StepDefinition<OutputStep, Activities> = {
  kind: 'output',
  isAgentWork: false,
  activity: 'checkOutput',
  profile: { startToCloseTimeout: '1m' },
  isLight: () => true,
  id: () => 'output',
  name: () => 'check the output',
  run: ({ checkOutput }, { schema, output: value }, run) =>
    checkOutput({ idempotency_key: idempotencyKey(run), schema, output: value }),
  keep: (_value, _step, { path }) => {
    path.is_output_checked = true;
  },
};
