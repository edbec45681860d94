import { z } from 'zod';
import {
  askStep,
  codeStep,
  commonStepFields,
  Expression,
  innerSteps,
} from '../../../../workflows/agentflow-execution/flow/flow-steps.js';
import { Pointer } from './fields.js';
import { StepAction } from './skills.js';

const ActionStep = z.strictObject({
  ...commonStepFields,
  type: z.literal('action'),
  connector_id: Pointer.nullable().default(null),
  action: StepAction,
  inputs: z
    .record(z.string().min(1).max(200), Expression)
    .default({})
    .describe('What the fields of the action get, by field.')
    .meta({ example: { amount: 'outputs.check.total' } }),
});

export const FlowStep = z
  .discriminatedUnion('type', [...innerSteps, codeStep, askStep, ActionStep])
  .meta({ id: 'FlowStep', description: 'A step of a flow that is not an agent.' });
export type FlowStep = z.infer<typeof FlowStep>;
export type ActionStep = z.infer<typeof ActionStep>;
