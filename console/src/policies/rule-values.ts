import { type PolicyRule, validationError } from '../api.js';
import { projectId } from '../session.js';

/** A rule as a person edits it. */
export interface Fields {
  policy_id: string;
  description: string;
  effect: string;
  tools: readonly string[];
  projects: string[] | undefined;
  /** In Cedar. */
  when: string;
  approvers: string;
  minutes: string;
  starterMayDecide: boolean;
  approverRoles: PolicyRule['approver_roles'];
}

export const newRule: PolicyRule = {
  policy_id: '',
  description: '',
  effect: 'require_approval',
  projects: [projectId],
};

export function fieldsOf(rule: PolicyRule): Fields {
  return {
    policy_id: rule.policy_id,
    description: rule.description ?? '',
    effect: rule.effect,
    tools: rule.tools ?? [],
    projects: rule.projects,
    when: rule.when ?? '',
    approvers: String(rule.approvers ?? 1),
    minutes: rule.approval_ttl_seconds === undefined ? '' : String(rule.approval_ttl_seconds / 60),
    starterMayDecide: rule.starter_may_decide ?? false,
    approverRoles: rule.approver_roles,
  };
}

/** @throws ServiceError for a field that is not a number */
export function ruleOf(fields: Fields): PolicyRule {
  const isHeld = fields.effect === 'require_approval';
  const approvers = numberOf('approvers', fields.approvers);
  const minutes = numberOf('approval_ttl_seconds', fields.minutes);
  return {
    policy_id: fields.policy_id.trim(),
    description: fields.description,
    effect: fields.effect as PolicyRule['effect'],
    ...(fields.tools.length > 0 && { tools: [...fields.tools] }),
    ...(fields.projects && { projects: fields.projects }),
    ...(fields.when.trim() !== '' && { when: fields.when }),
    ...(isHeld && approvers !== undefined && approvers !== 1 && { approvers }),
    ...(isHeld && minutes !== undefined && { approval_ttl_seconds: Math.round(minutes * 60) }),
    ...(isHeld && fields.starterMayDecide && { starter_may_decide: true }),
    ...(isHeld && fields.approverRoles && { approver_roles: fields.approverRoles }),
  };
}

function numberOf(name: string, text: string): number | undefined {
  if (text.trim() === '') return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) throw validationError(name, 'must be a number');
  return value;
}

const optional = [
  'tools',
  'projects',
  'when',
  'approvers',
  'approval_ttl_seconds',
  'starter_may_decide',
  'approver_roles',
] as const;

/** Only the fields that differ, so that the others keep what somebody else stores at the same time. */
export function changesOf(before: PolicyRule, { policy_id: _id, ...after }: PolicyRule): object {
  const wanted = { ...Object.fromEntries(optional.map((name) => [name, null])), ...after };
  const known: Readonly<Record<string, unknown>> = { ...before };
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(known[name] ?? null)),
  );
}
