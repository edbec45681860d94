import type { Principal } from '../../auth/principal.js';
import type { AppError } from '../../errors.js';
import type { AsksOnce } from '../approvals/request.js';
import type { PolicyFacts } from '../lifecycles/policy-facts.js';
import type { ActRecord, LifecycleStatus } from '../lifecycles/record.js';
import type { Operation } from '../operations/operation.js';
import type { PolicyEvaluation } from '../policy/decision.js';

/** How a call arrived. `agent`: a run calls on behalf of the person who started it. */
export const channels = ['rest', 'mcp', 'console', 'schedule', 'agent', 'callback'] as const;
export type Channel = (typeof channels)[number];

export interface Resource {
  type: string;
  id: string;
}

/** What S8 needs so that a repeat of an approved call continues the first attempt instead of making a second record. */
export interface Attempt {
  lifecycleId: string;
  /** The id for a record that the call makes: the same for every attempt under one approval. Undefined for a call that no policy held. */
  recordId: string | undefined;
  /** The state that the approval is bound to in addition to the input, as read at S6; undefined if no policy held the call. */
  bound: unknown;
}

export interface Executed {
  body: unknown;
  /** The id of the record that was made, where the input named none. */
  madeId?: string;
  consumed?: readonly string[];
}

/** A call after its surface has validated it, with what S5 to S8 need to know of it. */
export interface Checked {
  /** What facts are read from and the digest is computed over. */
  input: unknown;
  /** What the digest covers instead of `input`, for a call that an approver edited. */
  digested?: unknown;
  /** The fields that an approver can edit, with their types. */
  editable?: Record<string, string>;
  /** The call was sent before, and its answer was lost. */
  afterUnknown?: boolean;
  resource: Resource;
  dryRun: boolean;
  /** Facts and a resource that must be looked up, such as the agentflow of an execution. */
  lookUp?(): Promise<{ resource?: Resource; facts?: Readonly<Record<string, unknown>> }>;
  /** State that the call would act on and that its input does not name: an approval holds only for it. */
  binds?(): Promise<unknown>;
  /** What an approver sees next to the input, such as the goal of an execution. */
  shows?(): Promise<unknown>;
  /** How an act ended, for its record. */
  acted?(status: LifecycleStatus): ActRecord;
  /** Whether the approval stays used although the call failed, because the call may have taken effect. */
  keepsApproval?(): boolean;
  /** S7. */
  describe?(): Promise<Record<string, unknown>>;
  /** S8. */
  run(attempt: Attempt): Promise<Executed>;
}

/** A call as a surface hands it over: what differs by surface comes as functions, one for each stage. */
export interface Call {
  lifecycleId: string;
  /** Epoch seconds. */
  startedAt: number;
  operation: Operation;
  /** The unvalidated input that determines the required grant. */
  asked: unknown;
  /** What lifecycle, audit entry and approval call it: the tool's name at the gateway, else the operation's. */
  name: string;
  channel: Channel;
  traceId: string;
  resumeToken: string | undefined;
  /** The caller has no place to keep a resume token: a repeat of the call uses the approval that was given for it. */
  resumesItself?: boolean;
  /** The approval under which a caller without a resume token, such as a run, repeats its call. */
  approvalId?: string | undefined;
  /** For a caller that is repeated until it has its answer, such as a run: it asks once for the same call. */
  asksOnce?: AsksOnce;
  /** Why this caller cannot wait for an approval, such as a schedule; undefined for one that can. */
  cannotWait?: string;
  /** Gateway tools are recorded whatever they do; other calls by the effect of their operation. */
  alwaysRecorded: boolean;
  /** Whose policies are read while S1 to S4 run. S5 reads them again if the caller belongs elsewhere. */
  likelyOrganizationId?: string | undefined;
  authenticate(): Promise<Principal>;
  resolveScope(principal: Principal): Promise<Principal>;
  admit(principal: Principal): Promise<void>;
  validate(principal: Principal): Promise<Checked>;
}

export interface AuthenticatedCall extends Call {
  principal: Principal;
}

export interface CheckedCall extends AuthenticatedCall {
  checked: Checked;
  /** SHA-256 of the canonical payload: what an approval and its resume token are bound to. Computed once, when it is needed. */
  payloadDigest(): string;
}

export interface DecidedCall extends CheckedCall {
  decision: PolicyEvaluation;
  /** What the decision was based on, as the lifecycle keeps it. */
  policyFacts(): PolicyFacts;
}

/** How a call ended before S8, or what S8 answered. */
export interface Ending {
  status: Extract<LifecycleStatus, 'pending_approval' | 'dry_run' | 'completed'>;
  body: unknown;
  consumed?: readonly string[];
}

export interface PermittedCall extends DecidedCall {
  approvalId?: string;
  /** Set where a resume token let it pass. */
  recordId?: string;
  tokenId?: string;
  bound?: unknown;
  ending?: Ending;
}

/** The detail that the stage leaves in the lifecycle. */
export interface Noted {
  note?: string;
}

/** What stages know of a call at any point: the fields that later stages add may be missing. */
export type PartialCall = Call & Partial<Omit<PermittedCall, keyof Call>> & Noted;

/** A stage maps a call to a call, or throws its refusal. It writes to no record: only the list of stages records. */
export type Stage<In, Out, Deps> = (deps: Deps, call: In) => Promise<Out & Noted>;

/** What a refusing stage found out about the call, for the record; `reason` is for the audit chain only. */
export interface RefusalFacts {
  call: PartialCall;
  reason?: string;
}

const facts = new WeakMap<AppError, RefusalFacts>();

/** The refusal of a call that the stage had learned more about. */
export function refusal(error: AppError, call: PartialCall, reason?: string): AppError {
  facts.set(error, { call, ...(reason !== undefined && { reason }) });
  return error;
}

export function factsOfRefusal(error: unknown): RefusalFacts | undefined {
  return typeof error === 'object' && error !== null ? facts.get(error as AppError) : undefined;
}
