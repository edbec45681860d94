import { useState } from 'react';
import { call, validationError, type PolicyRule, type PolicySet } from '../api.js';
import { Confirm } from '../confirm.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { ActionButton, Problem } from '../parts.js';
import { roleName } from '../roles.js';
import { projectId } from '../session.js';
import { useProjectNames } from '../use-names.js';
import { Operations } from './operations.js';
import { Simulation } from './simulation.js';

const effects = [
  { value: 'require_approval', name: 'Require approval' },
  { value: 'forbid', name: 'Forbid' },
  { value: 'permit', name: 'Permit' },
];
const adminRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'] as const;

interface Fields {
  policy_id: string;
  description: string;
  effect: string;
  tools: string;
  projects: string[] | undefined;
  when: string;
  approvers: string;
  minutes: string;
  starterMayDecide: boolean;
  approverRoles: PolicyRule['approver_roles'];
}

const newRule: PolicyRule = { policy_id: '', description: '', effect: 'require_approval', projects: [projectId] };

function fieldsOf(rule: PolicyRule): Fields {
  return {
    policy_id: rule.policy_id,
    description: rule.description ?? '',
    effect: rule.effect,
    tools: (rule.tools ?? []).join(', '),
    projects: rule.projects,
    when: rule.when ?? '',
    approvers: String(rule.approvers ?? 1),
    minutes: rule.approval_ttl_seconds === undefined ? '' : String(rule.approval_ttl_seconds / 60),
    starterMayDecide: rule.starter_may_decide ?? false,
    approverRoles: rule.approver_roles,
  };
}

/** @throws ServiceError for a field that is not a number */
function ruleOf(fields: Fields): PolicyRule {
  const tools = fields.tools.split(/[\s,]+/).filter((name) => name !== '');
  const isHeld = fields.effect === 'require_approval';
  const approvers = numberOf('approvers', fields.approvers);
  const minutes = numberOf('approval_ttl_seconds', fields.minutes);
  return {
    policy_id: fields.policy_id.trim(),
    description: fields.description,
    effect: fields.effect as PolicyRule['effect'],
    ...(tools.length > 0 && { tools }),
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
function changesOf(before: PolicyRule, { policy_id: _id, ...after }: PolicyRule): object {
  const wanted = { ...Object.fromEntries(optional.map((name) => [name, null])), ...after };
  const known: Readonly<Record<string, unknown>> = { ...before };
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(known[name] ?? null)),
  );
}

interface DialogOptions {
  /** The rule to edit; a new one by default. */
  rule?: PolicyRule;
  set: PolicySet;
  onClose: () => void;
}

/** Adds or edits one rule. The other rules stay. The rule can be tried on recorded calls before it is saved. */
export function RuleDialog({ rule, set, onClose }: DialogOptions) {
  const [fields, setFields] = useState(() => fieldsOf(rule ?? newRule));
  const [tried, setTried] = useState<PolicyRule>();
  const [error, setError] = useState<unknown>();
  const change = (changed: Partial<Fields>) => {
    setFields({ ...fields, ...changed });
    setTried(undefined);
  };
  const attempt = () => {
    try {
      setTried(ruleOf(fields));
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  };
  const act = async (options: { idempotencyKey: string }) => {
    const edited = ruleOf(fields);
    const expected_version = set.version;
    if (!rule) return call('post', '/v1/policies/rules', { body: edited }, options);
    const body = { ...changesOf(rule, edited), expected_version };
    const params = { policy_id: rule.policy_id };
    return call('patch', '/v1/policies/rules/{policy_id}', { params, body }, options);
  };
  return (
    <Confirm
      title={rule ? `Edit the rule ${rule.policy_id}` : 'Add a rule'}
      action={rule ? 'Save rule' : 'Add rule'}
      act={act}
      invalidates={[['policies']]}
      onClose={onClose}
      tools={<ActionButton name="Try on recorded calls" onClick={attempt} />}
    >
      <p>All other rules stay as they are. The change takes effect immediately.</p>
      <RuleFields fields={fields} isNew={!rule} onChange={change} />
      <Problem error={error} />
      {tried && <Simulation key={JSON.stringify(tried)} candidate={{ rule: tried }} onFailure={setError} />}
    </Confirm>
  );
}

interface FieldsOptions {
  fields: Fields;
  isNew: boolean;
  onChange: (changed: Partial<Fields>) => void;
}

function RuleFields({ fields, isNew, onChange }: FieldsOptions) {
  const { policy_id, description, effect, tools, when } = fields;
  return (
    <>
      {isNew && (
        <TextField
          label="Id"
          name="policy_id"
          hint="Lower case letters, digits, dots, dashes and underscores"
          text={policy_id}
          onChange={(text) => onChange({ policy_id: text })}
          maxLength={100}
          autoFocus
        />
      )}
      <SelectField
        label="Effect"
        name="effect"
        value={effect}
        options={effects}
        onChange={(value) => onChange({ effect: value })}
      />
      <TextField
        label="Description (shown to people and agents)"
        name="description"
        text={description}
        onChange={(text) => onChange({ description: text })}
        maxLength={500}
      />
      <TextField
        label="Operations, separated by commas (empty: all)"
        name="tools"
        list="policy-operations"
        text={tools}
        onChange={(text) => onChange({ tools: text })}
      />
      <Projects projects={fields.projects} onChange={(projects) => onChange({ projects })} />
      <TextField
        label="Condition in Cedar (empty: always)"
        name="when"
        rows={4}
        className="code"
        spellCheck={false}
        text={when}
        onChange={(text) => onChange({ when: text })}
      />
      <Operations tools={tools} />
      {effect === 'require_approval' && <ApprovalFields fields={fields} isNew={isNew} onChange={onChange} />}
    </>
  );
}

function Projects({ projects, onChange }: { projects: string[] | undefined; onChange: (projects?: string[]) => void }) {
  const nameOf = useProjectNames();
  const known = projects?.join() === projectId ? undefined : projects;
  return (
    <SelectField
      label="Projects"
      name="projects"
      value={(projects ?? []).join()}
      options={[
        { value: projectId, name: `Only ${nameOf(projectId)}` },
        { value: '', name: 'All projects of the organization' },
        ...(known && known.length > 0 ? [{ value: known.join(), name: known.map(nameOf).join(', ') }] : []),
      ]}
      onChange={(value) => onChange(value === '' ? undefined : value.split(','))}
    />
  );
}

function ApprovalFields({ fields, onChange }: FieldsOptions) {
  const roles = (fields.approverRoles ?? []).join();
  const choices = [['APPROVER'], [...adminRoles], ['OWNER', 'ORG_ADMIN'], ['OWNER']];
  return (
    <>
      <TextField
        label="People who must approve"
        name="approvers"
        inputMode="numeric"
        text={fields.approvers}
        onChange={(text) => onChange({ approvers: text })}
      />
      <SelectField
        label="Who may decide"
        name="approver_roles"
        value={roles}
        options={[
          { value: '', name: 'Everybody who may decide approvals' },
          ...choices.map((each) => ({ value: each.join(), name: `Only ${each.map(roleName).join(' or ')}` })),
        ]}
        onChange={(value) =>
          onChange({ approverRoles: value === '' ? undefined : (value.split(',') as PolicyRule['approver_roles']) })
        }
      />
      <TextField
        label="Minutes to decide (empty: a day)"
        name="approval_ttl_seconds"
        inputMode="decimal"
        text={fields.minutes}
        onChange={(text) => onChange({ minutes: text })}
      />
      <CheckField
        label="The person who caused the call may decide"
        isChecked={fields.starterMayDecide}
        onChange={(starterMayDecide) => onChange({ starterMayDecide })}
      />
    </>
  );
}
