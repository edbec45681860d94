import { inputValues } from '../flow/values.js';
import type { CodeStep as FlowCode } from '../flow/flow-steps.js';
import { idempotencyKey, type StepDefinition, type StepResult } from './definition.js';

/** Runs the code of a step of the flow. */
interface CodeStep {
  kind: 'code';
  code: FlowCode;
}

export interface RunCodeRequest {
  idempotency_key: string;
  source: string;
  inputs: Record<string, unknown>;
  timeout_seconds: number;
}

interface Activities {
  runCode(request: RunCodeRequest): Promise<StepResult<unknown>>;
}

export const code: StepDefinition<CodeStep, Activities> = {
  kind: 'code',
  isAgentWork: false,
  activity: 'runCode',
  profile: { startToCloseTimeout: '3m' },
  isLight: () => true,
  id: ({ code: { _id } }) => _id,
  name: ({ code: { _id, title } }) => title || _id,
  run: ({ runCode }, { code: { source, inputs, timeout_seconds } }, run) =>
    runCode({ idempotency_key: idempotencyKey(run), source, inputs: inputValues(run, inputs), timeout_seconds }),
  keep: (output, { code: { _id, next } }, { path, state, stepId }) => {
    path.outputs[_id] = output;
    Object.assign(path, { last: _id, next });
    const record = state.steps.findLast((one) => one.step_id === stepId);
    if (record) record.output = output;
  },
};
