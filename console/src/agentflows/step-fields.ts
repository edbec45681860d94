import type { Option } from '../field.js';
import type { Fields, FlowDocument } from './document.js';

interface BaseField {
  path: string;
  label: string;
  hint?: string;
}

export type StepField = BaseField &
  (
    | { kind: 'text' | 'number' | 'code' | 'next' | 'first' | 'join' | 'wait' | 'items' | 'action' }
    /** A field without a text is not sent, or null if `isNull`. */
    | { kind: 'expression'; isNull?: true }
    /** The first option is the default. */
    | { kind: 'choice'; options: readonly Option[] }
    | { kind: 'cases' | 'branches' | 'decide' | 'schema' | 'answers' | 'timeout' }
    /** Expressions by name. */
    | { kind: 'values'; one: string }
  );

export interface StepValueOptions {
  step: Fields;
  document: FlowDocument;
  problemOf: (path: string) => string | undefined;
  onChange: (step: Fields) => void;
}

interface StepKind {
  name: string;
  /** What the menu says about it. */
  about: string;
  fields: readonly StepField[];
  /** The fields of a new step, besides its id. */
  blank: Fields;
}

const next: StepField = { path: 'next', label: 'Next', kind: 'next' };
const onError = (...options: Option[]): StepField => ({
  ...{ path: 'on_error', label: 'If a part fails', kind: 'choice' },
  options: [{ value: 'fail', name: 'Fail the step' }, ...options],
});
const collect = { value: 'collect', name: 'Keep the error as its output' };
const inputs = (hint: string): StepField => ({ path: 'inputs', label: 'Inputs', kind: 'values', one: 'Input', hint });

export const stepKinds = {
  set: {
    ...{ name: 'Set', about: 'computes values' },
    fields: [{ path: 'values', label: 'Values', kind: 'values', one: 'Value' }, next],
    blank: { values: { value: '' }, next: null },
  },
  branch: {
    ...{ name: 'Branch', about: 'chooses a path by conditions' },
    fields: [
      { path: 'decide', label: 'Decided by', kind: 'decide' },
      { path: 'cases', label: 'Cases', kind: 'cases' },
      { path: 'otherwise', label: 'Otherwise', kind: 'next' },
    ],
    blank: { cases: [{ name: 'case_1', when: '', next: null }], otherwise: null },
  },
  parallel: {
    ...{ name: 'Parallel', about: 'runs branches at the same time' },
    fields: [
      { path: 'branches', label: 'Branches', kind: 'branches', hint: 'At least two.' },
      { path: 'join', label: 'Continue after', kind: 'join' },
      onError(collect),
      next,
    ],
    blank: {
      branches: [
        { name: 'branch_1', first: '' },
        { name: 'branch_2', first: '' },
      ],
      next: null,
    },
  },
  map: {
    ...{ name: 'Map', about: 'runs a part for each item of a list' },
    fields: [
      { path: 'items', label: 'Items', kind: 'items' },
      { path: 'as', label: 'Name of an item', kind: 'text', hint: 'Another name for item in expressions.' },
      { path: 'first', label: 'First of each item', kind: 'first' },
      { path: 'concurrency', label: 'Items at once', kind: 'number', hint: 'Default: 10.' },
      onError({ value: 'skip', name: 'Leave its item out' }, collect),
      next,
    ],
    blank: { items: '', first: '', next: null },
  },
  loop: {
    ...{ name: 'Loop', about: 'repeats a part until a condition is true' },
    fields: [
      { path: 'first', label: 'First of each round', kind: 'first' },
      { path: 'until', label: 'Until', kind: 'expression' },
      { path: 'max_rounds', label: 'Maximum rounds', kind: 'number' },
      { path: 'carry', label: 'Carry', kind: 'expression', isNull: true },
      next,
    ],
    blank: { first: '', until: '', max_rounds: 10, next: null },
  },
  wait: {
    ...{ name: 'Wait', about: 'waits for a time or an event' },
    fields: [{ path: 'wait', label: 'Wait for', kind: 'wait' }, next],
    blank: { seconds: 60, next: null },
  },
  action: {
    ...{ name: 'Action', about: 'calls a system without a model' },
    fields: [{ path: 'action', label: 'Action', kind: 'action' }, next],
    blank: {
      connector_id: null,
      action: { name: '', method: 'POST', endpoint: '', input_schema: { fields: [] } },
      inputs: {},
      next: null,
    },
  },
  ask: {
    ...{ name: 'Ask', about: 'asks a person' },
    fields: [
      { ...{ path: 'question', label: 'Question', kind: 'text' }, hint: 'Liquid templates are allowed.' },
      { path: 'form', label: 'Form of the answer', kind: 'schema' },
      { path: 'to', label: 'Who may answer', kind: 'answers' },
      { path: 'deadline_seconds', label: 'Deadline (seconds)', kind: 'number', hint: 'Default: seven days.' },
      { path: 'on_timeout', label: 'If nobody answers', kind: 'timeout' },
      next,
    ],
    blank: {
      question: '',
      form: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      next: null,
    },
  },
  code: {
    ...{ name: 'Code', about: 'runs JavaScript' },
    fields: [
      inputs('What the code knows as inputs.<name>.'),
      {
        ...{ path: 'source', label: 'JavaScript', kind: 'code' },
        hint: 'The body of a function that gets inputs and returns a JSON value.',
      },
      { path: 'timeout_seconds', label: 'Timeout (seconds)', kind: 'number', hint: 'Default: 10.' },
      next,
    ],
    blank: { source: '', inputs: {}, next: null },
  },
  flow: {
    ...{ name: 'Agentflow', about: 'starts another agentflow and waits for it' },
    fields: [
      { path: 'agentflow_id', label: 'Agentflow id', kind: 'text' },
      { ...{ path: 'version', label: 'Version', kind: 'number' }, hint: 'By default the release in production.' },
      { path: 'goal', label: 'Goal', kind: 'expression' },
      inputs('The input variables of the other run. To start it without waiting, use the JSON view.'),
      next,
    ],
    blank: { agentflow_id: '', inputs: {}, next: null },
  },
} satisfies Record<string, StepKind>;

export type StepType = keyof typeof stepKinds;
export const stepTypes = Object.keys(stepKinds) as StepType[];

export function stepKindOf({ type }: Fields): StepKind | undefined {
  return stepTypes.includes(type as StepType) ? stepKinds[type as StepType] : undefined;
}
