import { actorOf, type Principal } from '../../auth/principal.js';
import { epochSeconds } from '../../base/time.js';
import type { LifecycleDocument } from '../lifecycles/record.js';
import type { GovernedRecord, Intent } from '../recorder.js';
import type { PartialCall, Resource } from './call.js';

interface Outcome {
  stages: LifecycleDocument['stages'];
  status: LifecycleDocument['status'];
  reason?: string | undefined;
}

type RecordedCall = Pick<PartialCall, 'lifecycleId' | 'name' | 'startedAt' | 'traceId'> & Partial<PartialCall>;

/** The lifecycle with its decision, and the audit entry of a call. */
export function governedRecord(
  call: RecordedCall,
  principal: Principal,
  { stages, status, reason }: Outcome,
): GovernedRecord {
  const { lifecycleId, decision, approvalId, ending } = call;
  const { projectId: project_id, organizationId: organization_id } = principal;
  const at = epochSeconds();
  const act = call.checked?.actRecord?.(status);
  return {
    lifecycle: {
      _id: lifecycleId,
      tool: call.name,
      status,
      stages,
      principal: callerOf(principal),
      project_id,
      organization_id,
      trace_id: call.traceId,
      created_at: call.startedAt,
      ended_at: at,
      payload_digest: call.payloadDigest?.() ?? null,
      consumed: [...(ending?.consumed ?? [])],
      ...(approvalId !== undefined && { approval_id: approvalId }),
      ...(act && { act }),
      ...(decision && {
        decision: {
          decision: decision.decision,
          policy_ids: decision.policy_ids,
          policy_version: decision.policy_version,
          at,
          project_id,
        },
      }),
      ...(call.policyFacts && { facts: call.policyFacts() }),
    },
    audit: {
      organization_id,
      at,
      actor: actorOf(principal),
      action: call.name,
      resource: resourceOf(call.checked?.resource, project_id),
      outcome: [status, act?.outcome, ending?.outcome, reason].filter((part) => part !== undefined).join(': '),
      lifecycle_id: lifecycleId,
    },
  };
}

/** What is stored about a call before S8, so that a sweep can record the call after a crash. */
export function intentOf(
  { lifecycleId, name, traceId, startedAt }: PartialCall,
  { principal, resource }: { principal: Principal; resource: Resource },
): Intent {
  return {
    _id: lifecycleId,
    tool: name,
    principal: callerOf(principal),
    actor: actorOf(principal),
    resource: resourceOf(resource, principal.projectId),
    project_id: principal.projectId,
    organization_id: principal.organizationId,
    trace_id: traceId,
    created_at: startedAt,
  };
}

function resourceOf(resource: Resource | undefined, projectId: string): string {
  return resource ? `${resource.type}:${resource.id}` : `project:${projectId}`;
}

function callerOf({ userId, kind, keyId, clientId, executionId }: Principal) {
  return {
    user_id: userId,
    kind,
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(executionId === undefined ? {} : { execution_id: executionId }),
  };
}
