import type { Grant } from '../../auth/grants.js';
import { channels } from '../kernel/entrances.js';
import type { LifecycleDocument } from '../lifecycles/record.js';
import type { PolicyFacts } from '../lifecycles/policy-facts.js';
import type { FactValue, Operation } from '../operations/operation.js';
import type { PolicyEvaluation } from './decision.js';
import type { PolicyRequest } from './evaluate.js';

/** Ids and words: UUIDs, names of types, settings. Not mail addresses, sentences, paths or long random texts. */
const identifier = /^(?:\*|(?:[A-Za-z0-9]{1,24}(?:[._:-]|$)){0,12})$/;
const maxItems = 20;

/** The facts of a call that its lifecycle keeps for simulations: no secrets and no personal data (decision 0019). */
export function factsToKeep(
  { principal, operation, channel = 'rest', resource, mode, dryRun, facts = {}, at }: PolicyRequest,
  known: { name: string; isModeKnown: boolean },
): PolicyFacts {
  const mayKeep = ([name, value]: [string, FactValue]) =>
    operation.facts[name]?.isFreeText !== true &&
    (Array.isArray(value) ? value.length <= maxItems && value.every(isIdentifier) : isIdentifier(value));
  const absent = Object.keys(operation.facts).filter((name) => !Object.hasOwn(facts, name));
  return {
    at: at.getTime() / 1000,
    ...(operation.name !== known.name && { operation: operation.name }),
    role: principal.role,
    ...(principal.roles && { roles: principal.roles }),
    grants: principal.grants.join(' '),
    channel,
    ...(known.isModeKnown && { mode }),
    dry_run: dryRun,
    resource_type: resource.type,
    ...(isIdentifier(resource.id) && { resource_id: resource.id }),
    input: Object.fromEntries(Object.entries(facts).filter(mayKeep)),
    ...(absent.length > 0 && { absent }),
  };
}

function isIdentifier(value: FactValue): boolean {
  return typeof value !== 'string' || identifier.test(value);
}

/** A call that is restored from its lifecycle. */
export interface RecordedRequest {
  /** Unknown values are placeholders. */
  request: Omit<PolicyRequest, 'operation' | 'input'>;
  /** The placeholders, such as `context.mode`. A rule that reads one of them cannot be tried on this call. */
  unknown: string[];
}

/** A call with its decision, and what is needed to decide it again. */
export interface RecordedCall extends RecordedRequest {
  lifecycle_id: string;
  operation: string;
  project_id: string;
  /** Epoch seconds. */
  at: number;
  recorded: { decision: PolicyEvaluation['decision']; rules: string[]; policy_version: number };
}

export const skipReasons = ['not_decided', 'unknown_operation', 'facts_not_recorded', 'time_limit'] as const;
export type SkipReason = (typeof skipReasons)[number];

/** Restores a call from what `factsToKeep` stored. */
export function recordedRequest(
  { principal, organization_id, project_id }: Omit<LifecycleDocument, 'facts'>,
  facts: PolicyFacts,
  operation: Operation,
): RecordedRequest {
  const { user_id, kind, client_id } = principal;
  const input = Object.fromEntries(Object.entries(facts.input).filter(([name]) => name in operation.facts));
  const unknown = [
    ...(facts.mode === undefined ? ['context.mode'] : []),
    ...(facts.resource_id === undefined ? ['resource.id'] : []),
    ...Object.keys(operation.facts)
      .filter((name) => !(name in input) && facts.absent?.includes(name) !== true)
      .map((name) => `context.input.${name}`),
  ];
  const channel = channels.find((each) => each === facts.channel);
  return {
    request: {
      principal: {
        userId: user_id,
        role: facts.role,
        ...(facts.roles && { roles: facts.roles }),
        kind,
        grants: facts.grants.split(' ').filter((grant) => grant !== '') as Grant[],
        organizationId: organization_id,
        projectId: project_id,
        ...(client_id !== undefined && { clientId: client_id }),
      },
      ...(channel && { channel }),
      resource: { type: facts.resource_type, id: facts.resource_id ?? '' },
      mode: facts.mode ?? 'simple',
      dryRun: facts.dry_run,
      facts: input,
      at: new Date(facts.at * 1000),
    },
    unknown,
  };
}
