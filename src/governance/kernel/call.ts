import type { Recheck } from '../operations/recheck.js';
import type { Principal } from '../../auth/principal.js';
import type { AppError } from '../../base/errors.js';
import type { ApprovalReuse } from '../approvals/request.js';
import type { SummarySource } from '../approvals/summary.js';
import type { PolicyFacts } from '../lifecycles/policy-facts.js';
import type { ActRecord, LifecycleStatus } from '../lifecycles/record.js';
import type { causedBy, Operation } from '../operations/operation.js';
import type { Entrance } from './entrances.js';
import type { PolicyEvaluation } from '../policy/decision.js';

export interface Resource {
  type: string;
  id: string;
}

/** What S8 needs so that all attempts under one approval create only one record. */
export interface Attempt {
  lifecycleId: string;
  /** The id for a record that the call creates. Undefined if no policy held the call. */
  recordId: string | undefined;
  /** The approval that permits the call. Undefined if none was needed. */
  approvalId: string | undefined;
  /** The state that the approval is bound to in addition to the input, as read at S6; undefined if no policy held the call. */
  bound: unknown;
  recheck: Recheck;
}

export interface Executed {
  body: unknown;
  /** The id of the new record, if the input names none. */
  madeId?: string;
  consumed?: readonly string[];
  /** What the audit entry says in addition. */
  outcome?: string;
}

/** A call that its surface has validated, with everything that S5 to S8 need. */
export interface Checked {
  /** Facts are read from it, and the digest is computed over it. */
  input: unknown;
  /** What the digest covers instead of `input`, for a call that an approver edited. */
  digested?: unknown;
  /** The fields that an approver can edit, with their types. */
  editable?: Record<string, string>;
  /** The call was sent before, and its answer was lost. */
  afterUnknown?: boolean;
  resource: Resource;
  dryRun: boolean;
  /** The record on which the causes of the operation depend. */
  subject?(): Promise<unknown>;
  /** Facts and a resource that must be looked up, such as the agentflow of an execution. */
  lookUp?(): Promise<{ resource?: Resource; facts?: Readonly<Record<string, unknown>> }>;
  /** State that the call acts on and that its input does not contain. An approval is valid only for this state. */
  boundState?(): Promise<unknown>;
  /** What an approver sees next to the input, such as the goal of an execution. */
  approvalContext?(): Promise<unknown>;
  /** What a person reads as the summary of the held call. By default, it is made from the operation and the input. */
  summary?(): SummarySource;
  /** How an act ended, for its record. */
  actRecord?(status: LifecycleStatus): ActRecord;
  /** Whether the approval stays used although the call failed, because the call may have taken effect. */
  keepsApproval?(): boolean;
  /** Describes the effect of the call without side effects, for a dry run (S7). */
  describe?(): Promise<Record<string, unknown>>;
  /** Performs the call (S8). */
  run(attempt: Attempt): Promise<Executed>;
}

/** A call as its surface passes it to the kernel. Its functions supply what the stages S1, S2 and S4 work with. */
export interface Call {
  lifecycleId: string;
  /** Epoch seconds. */
  startedAt: number;
  entrance: Entrance;
  /** The name of the call in its records: that of the gateway tool, or else that of the operation. */
  name: string;
  traceId: string;
  resumeToken?: string | undefined;
  /** The approval that a caller without a resume token, such as a run, uses when it repeats its call. */
  approvalId?: string | undefined;
  /** Set by a caller that repeats a call until it has an answer: all repeats share one approval. */
  reusesApproval?: ApprovalReuse;
  /** The people who caused the call of a run, in addition to its person. They do not decide its approval. */
  causedBy?(): Promise<readonly string[]>;
  /** S1: verifies the credential. @throws AppError `invalid_token` */
  authenticate(): Promise<Principal>;
  /** S2: the caller in the project that the call names. @throws AppError `scope_denied` */
  resolveScope(principal: Principal): Promise<Principal>;
  /** S2: the operation that the call performs. */
  operationOf(): Promise<Operation>;
  /** S2: the operation whose rules judge the call; by default, the same. The caller needs its grant as well. */
  judgedAs?(): Promise<Operation>;
  /** S4: reads and validates the input. */
  validate(principal: Principal): Promise<Checked>;
}

export interface AuthenticatedCall extends Call {
  principal: Principal;
}

export interface ScopedCall extends AuthenticatedCall {
  /** The operation whose rules judge the call. */
  operation: Operation;
}

export interface CheckedCall extends ScopedCall {
  checked: Checked;
  /** What the call causes in addition to its own operation. */
  caused: ReturnType<typeof causedBy>;
  /** What `subject` of the checked call returned. */
  subjectRecord: unknown;
  /** SHA-256 of the canonical payload, to which an approval and its token are bound. Computed at the first call. */
  payloadDigest(): string;
}

export interface DecidedCall extends CheckedCall {
  decision: PolicyEvaluation;
  /** The facts of the decision, which the lifecycle stores. */
  policyFacts(): PolicyFacts;
  recheck: Recheck;
}

/** The answer of the call: that of S8, or that of an earlier stage that ended the call. */
export interface Ending {
  status: Extract<LifecycleStatus, 'pending_approval' | 'dry_run' | 'completed'>;
  body: unknown;
  consumed?: readonly string[];
  /** What the audit entry says in addition to the status. */
  outcome?: string;
}

export interface PermittedCall extends DecidedCall {
  approvalId?: string;
  /** Set if the call uses the token of `approvalId`. */
  recordId?: string;
  bound?: unknown;
  ending?: Ending;
}

/** What a stage adds to its entry in the lifecycle. */
export interface StageNote {
  note?: string;
}

/** A call at any stage: the fields that later stages add are missing. */
export type PartialCall = Call & Partial<Omit<PermittedCall, keyof Call>> & StageNote;

/** A stage maps a call to a call, or throws a refusal. Only the loop over the stages writes records. */
export type Stage<In, Out, Deps> = (deps: Deps, call: In) => Promise<Out & StageNote>;

/** What the stage that refuses a call knows about it. `reason` is only for the audit chain. */
interface RefusalFacts {
  call: PartialCall;
  reason?: string;
}

const facts = new WeakMap<AppError, RefusalFacts>();

/** Attaches to a refusal what the stage knows about the call. */
export function refusal(error: AppError, call: PartialCall, reason?: string): AppError {
  facts.set(error, { call, ...(reason !== undefined && { reason }) });
  return error;
}

export function factsOfRefusal(error: unknown): RefusalFacts | undefined {
  return typeof error === 'object' && error !== null ? facts.get(error as AppError) : undefined;
}
