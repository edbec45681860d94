import type { z } from 'zod';
import type { Grant, Right } from '../../auth/grants.js';
import type { Permission, Principal } from '../../auth/principal.js';
import type { ErrorCode } from '../../base/error-catalog.js';
import type { CallContext } from './call-context.js';

/** What an operation does: `data` changes rows, file contents or read marks; `act` reaches the outside world. */
type Effect = 'read' | 'data' | 'write' | 'act';

/** A value of a call's input that rules can read as `context.input.<name>`. It comes only from the validated input. */
export interface Fact {
  /** `Decimal` has four decimal places; its value is a text. */
  type: 'String' | 'Long' | 'Boolean' | 'Set' | 'Decimal';
  /** People write this text, so it can contain names or secrets. A lifecycle never keeps it (decision 0019). */
  isFreeText?: true;
  /** Undefined only for facts that cannot be computed for every call. A rule that reads it then cannot be evaluated. */
  read(input: Readonly<Record<string, unknown>>): FactValue | undefined;
}

export type FactValue = string | number | boolean | string[];

/** JavaScript rounds larger integers. */
export const maxInteger = Number.MAX_SAFE_INTEGER;

export type Facts = Readonly<Record<string, Fact>>;

/** `any` accepts every valid credential; the operation itself checks further. */
type NeededGrant = Grant | 'any';

/** One call of a caused operation: the input that its rules read, and its resource if rules can name it. */
export interface CausedCall {
  input: Readonly<Record<string, unknown>>;
  resource?: { type: string; id: string };
}

/**
 * Another operation whose effect a call has as well. The caller also needs its grant and role, and its rules apply to the
 * call (decision 0018).
 */
export interface Cause {
  operation: Operation;
  /** Which calls cause it, for the API reference, such as "if `extract` is true". Absent if every call does. */
  when?: string;
  /**
   * The caused calls; empty if this call causes none.
   * @param input the key and input of the call
   * @param subject what `subject` of the operation returned
   */
  calls(input: Readonly<Record<string, unknown>>, subject: unknown): readonly CausedCall[];
}

/** What rules and the kernel know about an operation, whether a route, a tool, a page, a schedule or a callback calls it. */
export interface Operation {
  /** The name that rules use. */
  name: string;
  /** The name of the gateway tool, if it differs. Rules can use either name. */
  alias?: string;
  effect: Effect;
  /**
   * A fact has a value even if the input omits it: empty, 0 or false. Only where that would mislead a rule (`whereKnown`,
   * `decimal`) it has none.
   */
  facts: Facts;
  /** The grant that the caller needs on every surface. */
  grant: NeededGrant;
  /**
   * The rights of which a person needs one. Only where the grant says too little about people: otherwise they need a role
   * that has the grant.
   */
  right?: readonly Right[];
  /** In addition to the grant, the caller needs the role OWNER, ORG_ADMIN or PROJECT_ADMIN (`passesAdminOnly`). */
  adminOnly?: boolean;
  /** Everything that a call causes in addition. */
  causes?: readonly Cause[];
  /**
   * Whether it changes or deletes content of the context graph: always, or if this condition of a rule holds. Governed mode
   * forbids this to clients. Configured sources, such as a catalog, perform operations `ofServices` and still write.
   */
  changesContext?: true | { when: string };
  /** Events and schedules start it; no client can call it. */
  ofServices?: true;
}

type Schema = z.ZodType;
type Output<S> = S extends Schema ? z.output<S> : undefined;

/** One call of an operation. The kernel has validated `key` and `input`. */
export interface OperationCall<Deps, Key, Input> {
  deps: Deps;
  ctx: CallContext;
  key: Key;
  input: Input;
}

/** A call in S2, whose input is not read yet. */
export interface ScopeCall<Deps, Key, Input> {
  deps: Deps;
  principal: Principal;
  key: Key;
  input(): Promise<Input>;
}

/** A call after `prepare`, whose result is `prepared`. Without `prepare`, it is undefined. */
export interface PreparedCall<Deps, Key, Input, Prepared> extends OperationCall<Deps, Key, Input> {
  prepared: Prepared;
}

/** What people and models read about an operation that is a tool of the gateway, and MCP's annotations of it. */
export interface ToolTexts {
  title: string;
  description: string;
  hints: { readOnly: boolean; destructive: boolean; idempotent: boolean };
}

/**
 * An operation as its domain defines it (docs/architecture.md, "One operation"). `run` may rely on the grant, on the
 * policies and on the types of `key` and `input`. It throws AppError with the codes in `errors`, and `not_found` for an
 * unknown key.
 */
export interface OperationSpec<Deps, K, I, O extends Schema, P = unknown> extends Omit<Operation, 'facts'> {
  facts?: Facts;
  /** The fields that name the record. REST takes them from the path, or from the query if the path does not have them. */
  key?: K;
  /** Everything else that the caller sends: the body of a write, the query of a read. */
  input?: I;
  output: O;
  /** Error codes in addition to those of every operation of its kind. */
  errors?: readonly ErrorCode[];
  /** Only for tools of the gateway, which REST serves under `/v1` and MCP under the name of the operation. */
  tool?: ToolTexts;
  /** The call only starts the work. REST answers 202, and an Idempotency-Key makes a repeat safe. */
  accepted?: true;
  /** Facts that are the same for every call, such as `{ operation: 'pause' }`. */
  fixedFacts?: Readonly<Record<string, unknown>>;
  /** The operation whose rules apply to the call, if it depends on the key. */
  rulesFor?(key: Output<K>): Operation;
  /** What policies and the audit chain name. By default, the kind is the name's first part, and the id that of the key. */
  resource?(call: OperationCall<Deps, Output<K>, Output<I>>): { type: string; id: string };
  /** The resource and facts that must be read from records. */
  lookUp?(
    call: OperationCall<Deps, Output<K>, Output<I>>,
  ): Promise<{ resource?: { type: string; id: string }; facts?: Readonly<Record<string, unknown>> }>;
  /** The record on which `causes` depend; undefined if it does not exist, which `run` then refuses. */
  subject?(call: OperationCall<Deps, Output<K>, Output<I>>): Promise<unknown>;
  /**
   * The caller in the project whose rules apply and which records the call, if this is not the project of the credential.
   * `input` reads the input earlier than S4. @throws AppError `scope_denied`
   */
  scopeOf?(call: ScopeCall<Deps, Output<K>, Output<I>>): Promise<Principal>;
  /** Checks beyond the schemas (S4). @throws AppError `invalid_request` or `invalid_input` */
  prepare?(call: OperationCall<Deps, Output<K>, Output<I>>): Promise<P>;
  /** State that the call depends on but its input does not contain. An approval is valid only for this state. */
  boundState?(call: PreparedCall<Deps, Output<K>, Output<I>, P>): Promise<unknown>;
  /** What an approver sees in addition to the input. */
  approvalContext?(call: OperationCall<Deps, Output<K>, Output<I>>): Promise<unknown>;
  /** What the audit entry of a completed call says in addition. */
  outcome?(
    result: z.input<O>,
    call: OperationCall<Deps, Output<K>, Output<I>>,
  ): string | undefined | Promise<string | undefined>;
  /** Describes the effect of the call (S7) without side effects. Every operation of a tool has it. */
  dryRun?(call: PreparedCall<Deps, Output<K>, Output<I>, P>): Promise<Record<string, unknown>>;
  /** Absent only where the route answers with a stream or receives one. */
  run?(call: PreparedCall<Deps, Output<K>, Output<I>, P>): Promise<z.input<O>>;
}

interface RunnableSpec<Deps, K, I, O extends Schema, P> extends OperationSpec<Deps, K, I, O, P> {
  run(call: PreparedCall<Deps, Output<K>, Output<I>, P>): Promise<z.input<O>>;
}

/** An operation without its type parameters, as surfaces and the kernel use it. */
export type AnyOperation<Deps> = Operation & OperationSpec<Deps, Schema | undefined, Schema | undefined, Schema>;

/** The operation, if it is read or called with its own types. */
export type TypedOperation<Deps, K, I, O extends Schema, P> = AnyOperation<Deps> & OperationSpec<Deps, K, I, O, P>;

type Key = z.ZodObject | undefined;
type Input = Schema | undefined;

interface DefineOperation<Deps> {
  <O extends Schema, K extends Key = undefined, I extends Input = undefined, P = undefined>(
    spec: RunnableSpec<Deps, K, I, O, P>,
  ): TypedOperation<Deps, K, I, O, P> & RunnableSpec<Deps, K, I, O, P>;
  <O extends Schema, K extends Key = undefined, I extends Input = undefined, P = undefined>(
    spec: OperationSpec<Deps, K, I, O, P>,
  ): TypedOperation<Deps, K, I, O, P>;
}

/** Returns the function that defines operations with these dependencies. Only this function discards their types. */
export function operationsOver<Deps>(): DefineOperation<Deps> {
  return (spec: object) => ({ facts: {}, ...spec }) as never;
}

export function permissionOf({ grant, right }: Pick<Operation, 'grant' | 'right'>): Permission {
  return { grant, right };
}

/** The calls of other operations that a call of this operation causes. */
export function causedBy(
  { causes = [] }: Operation,
  input: unknown,
  subject: unknown,
): (CausedCall & Pick<Cause, 'operation'>)[] {
  const fields = fieldsOf(input);
  return causes.flatMap(({ operation, calls }) => calls(fields, subject).map((call) => ({ operation, ...call })));
}

export function factsOf({ facts }: Operation, input: unknown): Record<string, FactValue> {
  const fields = fieldsOf(input);
  return Object.fromEntries(
    Object.entries(facts).flatMap(([name, fact]): [string, FactValue][] => {
      const value = fact.read(fields);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
}

/** A fact that is an id or one of a few known words. */
export function text(field: string): Fact {
  return { type: 'String', read: ({ [field]: value }) => (typeof value === 'string' ? value : '') };
}

/** A fact that people write, such as a name or an address. */
export function freeText(field: string): Fact {
  return { ...text(field), isFreeText: true };
}

export function flag(field: string): Fact {
  return { type: 'Boolean', read: ({ [field]: value }) => value === true };
}

/** Limited to the integers that rules can name exactly (`maxInteger`). */
export function integer(field: string): Fact {
  const read = (value: unknown) =>
    typeof value === 'number' ? Math.max(-maxInteger, Math.min(Math.trunc(value), maxInteger)) : 0;
  return { type: 'Long', read: ({ [field]: value }) => read(value) };
}

/** A fact without a value where the call does not have the field. */
export function whereKnown(field: string, factOf: (field: string) => Fact): Fact {
  const fact = factOf(field);
  return { ...fact, read: (input) => (input[field] === undefined ? undefined : fact.read(input)) };
}

/** Cedar's decimals have up to four decimal places. All numbers with 14 digits before them fit. */
const decimalText = /^-?\d{1,14}\.\d{1,4}$/;

export function isDecimalText(value: unknown): value is string {
  return typeof value === 'string' && decimalText.test(value);
}

/** A fact that is a decimal number as text, such as `120.5`. It has no value where the call has no such text. */
export function decimal(field: string): Fact {
  return { type: 'Decimal', read: ({ [field]: value }) => (isDecimalText(value) ? value : undefined) };
}

export function count(field: string): Fact {
  return { type: 'Long', read: ({ [field]: value }) => (Array.isArray(value) ? value.length : 0) };
}

/** A fact with the distinct texts of a list. */
export function texts(field: string): Fact {
  return { type: 'Set', read: ({ [field]: value }) => distinctTexts(Array.isArray(value) ? value : []) };
}

/** A fact with the distinct texts that one field has in the objects of a list. */
export function textsOf(list: string, field: string): Fact {
  return {
    type: 'Set',
    read: ({ [list]: items }) =>
      distinctTexts((Array.isArray(items) ? (items as Record<string, unknown>[]) : []).map((item) => item[field])),
  };
}

function distinctTexts(values: readonly unknown[]): string[] {
  return [...new Set(values.filter((value) => typeof value === 'string'))];
}

/** Text facts, each with the name of its field. */
export function textFacts(...fields: string[]): Facts {
  return Object.fromEntries(fields.map((field) => [field, text(field)]));
}
