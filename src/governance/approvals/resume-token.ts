import { createHash, randomBytes } from 'node:crypto';
import type { Principal } from '../../auth/principal.js';
import type { ResumeTokenDocument } from './record.js';

const prefix = 'svc_rt_';
const wellFormed = /^svc_rt_[A-Za-z0-9_-]{43}$/;

export function newResumeToken(): string {
  return prefix + randomBytes(32).toString('base64url');
}

export function isResumeToken(text: string): boolean {
  return wellFormed.test(text);
}

export function hashResumeToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The purpose that the sealed token is bound to. */
export function sealedFor(approvalId: string): string {
  return `resume-token:${approvalId}`;
}

/** Whom a token is bound to: one API key, or one person by one kind of token and client, since tokens are renewed while a call waits. */
export function callerOf({ kind, keyId, userId, clientId }: Pick<Principal, 'kind' | 'keyId' | 'userId' | 'clientId'>): string {
  return [kind, userId, keyId ?? clientId ?? ''].join(':');
}

/** Why a token does not let its call pass: for the audit chain only, the caller learns nothing of it. */
export type ResumeRefusal =
  | 'malformed'
  | 'unknown'
  | 'other_project'
  | 'other_caller'
  | 'other_tool'
  | 'other_payload'
  | 'other_policy_version'
  | 'other_policies'
  | 'expired'
  | 'used'
  | 'not_asked';

export interface ResumedCall {
  caller: string;
  projectId: string;
  tool: string;
  payloadDigest: string;
  policyVersion: number;
  policyIds: readonly string[];
  approvers: number;
  /** Epoch seconds. */
  now: number;
}

/** Undefined when the token is for exactly this call, as it is judged now. */
export function refusalOf(token: ResumeTokenDocument, call: ResumedCall): ResumeRefusal | undefined {
  if (token.project_id !== call.projectId) return 'other_project';
  if (token.caller !== call.caller) return 'other_caller';
  if (token.tool !== call.tool) return 'other_tool';
  if (token.payload_digest !== call.payloadDigest) return 'other_payload';
  if (token.policy_version !== call.policyVersion) return 'other_policy_version';
  // The same version may ask for more by now: another hour, another mode.
  const covered = call.policyIds.every((id) => token.policy_ids.includes(id)) && call.approvers <= token.required_approvers;
  if (!covered) return 'other_policies';
  if (call.now >= token.expires_at) return 'expired';
  if (token.used_at !== null) return 'used';
  return undefined;
}
