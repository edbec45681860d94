import type {
  AgentflowInput,
  AgentInput,
  FlowStepAction,
  FlowStepAsk,
  FlowStepBranch,
  FlowStepBranchCases,
  FlowStepCode,
  FlowStepFlow,
  FlowStepLoop,
  FlowStepMap,
  FlowStepParallel,
  FlowStepSet,
  FlowStepWait,
  FlowStepWaitEvent,
} from './openapi.js';
import { compiled, inputsOf, named, outputOf, schemaAt, type Expression, type Reference } from './references.js';
import type { JsonSchema, ValueOf } from './values.js';

type Named<E> = Readonly<Record<string, E>>;
/** The fields of a definition, of which those in `Own` have other types than in the API. */
type With<Fields, Own> = Readonly<Omit<Fields, keyof Own>> & Readonly<Own>;

/** An agent, as in the API, with an id. */
export type AgentDefinition = With<AgentInput, { _id: string; output_schema?: JsonSchema }>;

/** A step, as in the API, with {@link Expression} instead of the texts of expressions. */
export type StepDefinition =
  | With<FlowStepSet, { values: Named<Expression> }>
  | With<FlowStepBranch, { cases: readonly With<FlowStepBranchCases, { when?: Expression }>[] }>
  | With<FlowStepParallel, { branches: readonly Readonly<FlowStepParallel['branches'][number]>[] }>
  | With<FlowStepMap, { items: Expression }>
  | With<FlowStepLoop, { until: Expression; carry?: Expression | null }>
  | With<FlowStepWait, { until?: Expression; event?: With<FlowStepWaitEvent, { match?: Expression }> }>
  | With<FlowStepAction, { inputs?: Named<Expression> }>
  | With<FlowStepFlow, { inputs?: Named<Expression> }>
  | With<FlowStepAsk, { form: JsonSchema }>
  | With<FlowStepCode, { inputs?: Named<Expression> }>;

declare const targets: unique symbol;

/** An agent or a step of a flow. */
export interface FlowNode<Id extends string = string, Target = unknown> {
  readonly id: Id;
  readonly definition: AgentDefinition | StepDefinition;
  /** Where the flow goes from here. */
  readonly [targets]?: Target;
}

/** What an agent or a step returns: `output` refers to it in `cel` and `liquid`. */
export interface Returns<T> {
  readonly output: Reference<T>;
}

/** The names that the part of a step has besides those around it. */
type PartOf<S> = S extends { readonly type: 'map'; readonly items: Expression<infer L> }
  ? { readonly item: Reference<L extends readonly (infer E)[] ? E : unknown>; readonly index: Reference<number> }
  : S extends { readonly type: 'loop' }
    ? { readonly carry: Reference; readonly index: Reference<number> }
    : unknown;

/** What a step returns, by its definition or by the schema that its author gives. */
type ReturnedBy<S, Given> = S extends { readonly type: 'set'; readonly values: infer V }
  ? { readonly [K in keyof V]: V[K] extends Expression<infer T> ? T : unknown }
  : S extends { readonly type: 'branch'; readonly cases: readonly { readonly name: infer N }[] }
    ? { readonly case: N }
    : S extends { readonly type: 'ask'; readonly form: infer F }
      ? ValueOf<F>
      : ValueOf<Given>;

type Values<S, K extends string> = S extends { readonly [P in K]: infer V } ? V : never;
type OfEach<S, List extends string, K extends string> =
  Values<S, List> extends readonly (infer E)[] ? (E extends unknown ? Values<E, K> : never) : never;
/** The ids to which an agent or a step points. `fail` is none. */
type TargetsOf<S> =
  | Values<S, 'next'>
  | Values<S, 'next_agent'>
  | Values<S, 'first'>
  | Values<S, 'otherwise'>
  | Exclude<Values<S, 'on_timeout'>, 'fail'>
  | OfEach<S, 'cases', 'next'>
  | OfEach<S, 'branches', 'first'>;

type KeysOfEach<U> = U extends unknown ? keyof U : never;
/** Refuses fields that no definition has. A generic parameter alone would accept them. */
type Exact<S, Shape> = S & { readonly [K in Exclude<keyof S, KeysOfEach<Shape>>]: never };
type Fitting<S> = S extends { readonly type: infer N } ? Extract<StepDefinition, { readonly type: N }> : never;

/**
 * Describes the inputs of a run, for `defineAgentflow({ input_schema })`.
 * @param schema - Their JSON Schema, as a literal.
 * @returns a reference to them
 */
export function inputs<const S extends JsonSchema>(schema: S): Reference<ValueOf<S>> {
  return inputsOf(schema);
}

/**
 * Defines an agent of a flow. Its output is a text or, with an `output_schema`, a JSON value.
 * @param definition - The agent, with the fields of the API.
 */
export function agent<const A extends AgentDefinition>(
  definition: Exact<A, AgentDefinition>,
): FlowNode<A['_id'], TargetsOf<A>> & Returns<A extends { readonly output_schema: infer S } ? ValueOf<S> : string> {
  const { _id, output_schema = { type: 'string' } } = definition as AgentDefinition;
  return { id: _id, output: outputOf(_id, output_schema), definition } as never;
}

/**
 * Defines a step of a flow.
 * @param definition - The step, with the fields of the API.
 * @param output - The JSON Schema of what it returns, as a literal, for a step whose definition does not say it, such as
 *   `code`. It is used only to check references.
 */
export function step<const S extends StepDefinition, const Given extends JsonSchema = JsonSchema>(
  definition: Exact<S, Fitting<S>>,
  output?: Given,
): FlowNode<S['_id'], TargetsOf<S>> & Returns<ReturnedBy<S, Given>> & PartOf<S> {
  const given = definition;
  const node = { id: given._id, output: outputOf(given._id, schemaReturnedBy(given) ?? output), definition };
  return { ...node, ...partOf(given) } as never;
}

function schemaReturnedBy(definition: StepDefinition): unknown {
  if (definition.type === 'ask') return definition.form;
  const fields = (names: readonly string[], schemaOf: (name: string) => unknown) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, schemaOf(name) ?? {}])),
  });
  if (definition.type === 'branch') return fields(['case'], () => ({ type: 'string' }));
  if (definition.type === 'set')
    return fields(Object.keys(definition.values), (name) => schemaAt(definition.values[name]));
  return undefined;
}

function partOf(definition: StepDefinition): object {
  const index = named('index', { type: 'integer' });
  if (definition.type === 'loop') return { index, carry: named('carry') };
  if (definition.type !== 'map') return {};
  const { items } = (schemaAt(definition.items) ?? {}) as JsonSchema;
  return { index, item: named(definition.as ?? 'item', items) };
}

type IdsOf<Nodes> = Nodes extends readonly FlowNode<infer Id>[] ? Id : never;
type AllTargets<Nodes> = Nodes extends readonly (infer N)[] ? (N extends FlowNode<string, infer T> ? T : never) : never;
/** The ids to which nodes point, and which none of them has. Nothing is known about ids that are not literals. */
type Unknown<Nodes> = string extends IdsOf<Nodes> ? never : Exclude<AllTargets<Nodes> & string, IdsOf<Nodes>>;
type Checked<Nodes> = [Unknown<Nodes>] extends [never]
  ? unknown
  : { readonly nodes: `no agent or step has the id ${Unknown<Nodes>}` };

/** An agentflow, as in the API, with `nodes` instead of `agents` and `steps`. */
export type AgentflowDefinition<Nodes extends readonly FlowNode[]> = With<
  Omit<AgentflowInput, 'agents' | 'steps' | 'projectID'>,
  {
    /** Its agents and steps. */
    nodes: Nodes;
    /** The agent or step that runs first. By default the first of `nodes`. */
    initialAgent?: IdsOf<Nodes>;
    /** From `inputs`, or a JSON Schema. */
    input_schema?: Expression | JsonSchema | null;
    output_schema?: JsonSchema | null;
  }
>;

/**
 * Defines an agentflow in code. References to outputs and inputs, and the ids of agents and steps, are checked by the compiler.
 * @param definition - The agentflow, with the fields of the API.
 * @returns the document for `platform.agentflows.create`; `gcs push` takes the default export of a file
 */
export function defineAgentflow<const Nodes extends readonly FlowNode[]>(
  definition: AgentflowDefinition<Nodes> & Checked<Nodes>,
): AgentflowInput {
  const { nodes, input_schema, ...fields } = definition as AgentflowDefinition<Nodes>;
  const definitions = nodes.map((node) => compiled(node.definition) as Readonly<Record<string, unknown>>);
  const first = nodes[0];
  return {
    ...(first && { initialAgent: first.id }),
    ...fields,
    ...(input_schema !== undefined && { input_schema: schemaAt(input_schema) ?? input_schema }),
    agents: definitions.filter(({ type }) => type === undefined),
    steps: definitions.filter(({ type }) => type !== undefined),
  } as unknown as AgentflowInput;
}
