import { z } from 'zod';
import { mapStep } from './map-step.js';
import { commonStepFields, Expression, First, idProblem, ids, PartName, Pointer } from './step-fields.js';
export { commonStepFields, Expression, StepId } from './step-fields.js';

/**
 * The steps of a flow besides its agents. The API stores them as they are here, and a run gets them as they are stored.
 * Only the action of an `action` step is defined elsewhere, because agents have the same actions.
 * Agents and steps are the nodes of a flow. A pointer to the next node is null where a part of the flow ends.
 */

const Branch = z
  .strictObject({
    ...commonStepFields,
    type: z.literal('branch'),
    cases: z
      .array(
        z.strictObject({
          name: PartName,
          when: Expression.optional(),
          description: z.string().max(1000).optional().describe('With `decide`: what the model reads of the case.'),
          next: Pointer,
        }),
      )
      .min(1)
      .max(50)
      .describe(
        'The first case whose expression `when` is true is chosen, or with `decide` the one that a model chooses.',
      ),
    decide: z
      .strictObject({
        instructions: z.string().min(1).max(100_000).describe('What the model decides: a Liquid template.'),
        llm: z
          .strictObject({
            model: z.string().max(200).default(''),
            temperature: z.number().min(0).max(2).nullable().default(null),
            max_tokens: z.int().min(1).max(1_000_000).nullable().default(null),
          })
          .optional()
          .describe("By default the project's model."),
      })
      .optional()
      .describe('A model chooses exactly one of the cases by their names and descriptions.'),
    otherwise: Pointer.describe('Where the flow continues if no case is chosen. Null ends this part of the flow.'),
  })
  .omit({ next: true });

const OnError = z
  .enum(['fail', 'collect'])
  .default('fail')
  .describe('`collect` keeps `{error: {code, message}}` in the output instead of failing.');

const Parallel = z.strictObject({
  ...commonStepFields,
  type: z.literal('parallel'),
  branches: z
    .array(z.strictObject({ name: PartName, first: First }))
    .min(2)
    .max(50),
  join: z
    .union([z.enum(['all', 'any']), z.strictObject({ count: z.int().min(1).max(50) })])
    .default('all')
    .describe('How many branches have to succeed. As soon as they have, the others are cancelled.'),
  on_error: OnError,
});

const Loop = z.strictObject({
  ...commonStepFields,
  type: z.literal('loop'),
  first: First,
  until: Expression.describe('The loop ends after the round in which this is true. It knows the outputs of the round.'),
  max_rounds: z
    .int()
    .min(1)
    .max(1000)
    .describe('The step fails with `limit_exceeded` if `until` is not true after this many rounds.'),
  carry: Expression.nullable()
    .default(null)
    .describe('What the next round knows as `carry`. By default the output of the round.'),
});

const maxWaitSeconds = 366 * 24 * 3600;

export const EventName = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be 1 to 100 letters, digits, "_", "." or "-"')
  .meta({ example: 'payment.received' });

const Wait = z.strictObject({
  ...commonStepFields,
  type: z.literal('wait'),
  seconds: z.number().min(0).max(maxWaitSeconds).optional().describe('How long to wait. A pause stops this clock.'),
  until: Expression.optional().describe(
    'An expression that returns the time: a timestamp, or a date or time in ISO 8601, without a zone in UTC.',
  ),
  event: z
    .strictObject({
      name: EventName,
      match: Expression.optional().describe('Whether the event is meant, where `event` is its data.'),
      deadline_seconds: z
        .number()
        .min(1)
        .max(maxWaitSeconds)
        .optional()
        .describe('The step fails with `timeout` if no event comes in this time. By default it waits for ever.'),
    })
    .optional()
    .describe('Waits for `POST /execute_flow/{execution_id}/events`. The output of the step is the data of the event.'),
});

const SetValues = z.strictObject({
  ...commonStepFields,
  type: z.literal('set'),
  values: z
    .record(z.string().regex(ids, idProblem), Expression)
    .refine((values) => Object.keys(values).length <= 100, 'must have at most 100 values')
    .meta({ example: { total: 'inputs.price * inputs.count' } }),
});

const Inputs = z.record(z.string().min(1).max(200), Expression).default({});

const Code = z.strictObject({
  ...commonStepFields,
  type: z.literal('code'),
  language: z.literal('javascript').default('javascript'),
  source: z
    .string()
    .min(1)
    .max(100_000)
    .describe('The body of a function that gets `inputs` and returns a JSON value. It has no network, files or clock.')
    .meta({ example: 'return { total: inputs.prices.reduce((sum, price) => sum + price, 0) };' }),
  inputs: Inputs.describe('What `inputs` has in the code, by name.').meta({ example: { prices: 'inputs.prices' } }),
  timeout_seconds: z.number().min(1).max(60).default(10),
});

/** Roles whose people can answer questions. */
const answeringRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN', 'APPROVER', 'EDITOR', 'MEMBER'] as const;

const Ask = z.strictObject({
  ...commonStepFields,
  type: z.literal('ask'),
  question: z
    .string()
    .max(4000)
    .default('')
    .describe('What people read: a Liquid template. By default the title.')
    .meta({ example: 'Is the offer of {{ inputs.supplier }} acceptable?' }),
  form: z
    .record(z.string(), z.unknown())
    .describe('The JSON Schema (2020-12) of the answer, which is an object. Its properties are the fields of the form.')
    .meta({ example: { type: 'object', properties: { accept: { type: 'boolean' } }, required: ['accept'] } }),
  to: z
    .strictObject({
      roles: z.array(z.enum(answeringRoles)).max(10).default([]),
      people: z.array(z.string().min(1).max(100)).max(100).default([]).describe('User ids.'),
    })
    .nullable()
    .default(null)
    .describe(
      'Who may answer: people with one of the roles, and these people. By default everybody with a role that decides.',
    ),
  deadline_seconds: z
    .number()
    .min(1)
    .max(maxWaitSeconds)
    .default(7 * 24 * 3600)
    .describe('How long the step waits. A pause stops this clock. By default seven days.'),
  on_timeout: z
    .string()
    .max(100)
    .nullable()
    .default('fail')
    .describe(
      'Where the flow continues if nobody answers in time: an agent or a step, null for the end of this part, or `fail`: the step fails with `timeout`.',
    ),
});
export const askStep = Ask;
export type AskStep = z.infer<typeof Ask>;

const Flow = z.strictObject({
  ...commonStepFields,
  type: z.literal('flow'),
  agentflow_id: z.string().min(1).max(100).describe('Another agentflow of the project, or this one.'),
  version: z
    .int()
    .min(1)
    .optional()
    .describe(
      'The release to start. By default the one in production, which a release keeps from its publication on; a draft starts the saved agentflow if there is none.',
    ),
  goal: Expression.optional().describe('By default the goal of the run.'),
  inputs: Inputs.describe('The `input_variables` of the other run.'),
  wait: z
    .boolean()
    .default(true)
    .describe('If false, the output is `{execution_id}` and the other run goes on by itself.'),
});

/** The schemas of the steps that the workflow runs itself. */
export const innerSteps = [Branch, Parallel, mapStep, Loop, Wait, SetValues, Flow] as const;

export type CodeStep = z.infer<typeof Code>;
export const codeStep = Code;

/** What a flow has to know of a step that calls an action. Its run has the call as the only act of an agent without a model. */
type ActionStep = { _id: string; type: 'action'; title: string; next: string | null; inputs: Record<string, string> };

export type FlowStep = z.infer<(typeof innerSteps)[number]> | CodeStep | AskStep | ActionStep;
export type BranchStep = z.infer<typeof Branch>;
/** A step that runs in the workflow itself. */
export type InnerStep = Exclude<FlowStep, CodeStep | AskStep | ActionStep>;
export type FlowStepOf<Type extends FlowStep['type']> = Extract<FlowStep, { type: Type }>;

const innerTypes: ReadonlySet<string> = new Set(innerSteps.map(({ shape }) => shape.type.value));

/** Whether the kind of a step's record is a type of step that runs without an activity. */
export function isInnerStep(kind: string): boolean {
  return innerTypes.has(kind);
}

/** Steps whose parts run on paths of their own. */
export type PartedStep = FlowStepOf<'parallel' | 'map' | 'loop'>;

/** A part of the flow that a step owns. Its pointers stay within it. */
export interface FlowPart {
  /** The branch of a `parallel`; empty for a `map` and a `loop`. */
  name: string;
  first: string;
}

export function partsOf(step: FlowStep): FlowPart[] {
  if (step.type === 'parallel') return step.branches;
  return step.type === 'map' || step.type === 'loop' ? [{ name: '', first: step.first }] : [];
}

/** The nodes that can follow a step within its own part, with the field of each pointer, and the name of its case. */
export function successorsOf(step: FlowStep): { field: string; name: string; to: string | null }[] {
  if (step.type === 'ask' && step.on_timeout !== 'fail')
    return [
      { field: 'next', name: '', to: step.next },
      { field: 'on_timeout', name: 'timeout', to: step.on_timeout },
    ];
  if (step.type !== 'branch') return [{ field: 'next', name: '', to: step.next }];
  return [
    ...step.cases.map(({ name, next }) => ({ field: `cases.${name}.next`, name, to: next })),
    { field: 'otherwise', name: 'otherwise', to: step.otherwise },
  ];
}

/** What the expressions of a part can use besides the common names. */
export function namesInPart(step: PartedStep): string[] {
  if (step.type === 'map') return [...new Set(['item', 'index', step.as])];
  return step.type === 'loop' ? ['carry', 'index'] : [];
}
