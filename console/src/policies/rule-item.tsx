import { useState, type ReactNode } from 'react';
import { call, type PolicyRule, type PolicySet } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { Reason } from '../field.js';
import { ActionButton, Badge } from '../parts.js';
import { roleName } from '../roles.js';
import { useMay } from '../session.js';
import { useProjectNames } from '../use-names.js';
import { operationText } from '../words/words.js';
import { RuleDialog } from './rule-dialog.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

const maxListed = 10;

/** A rule in words, with its condition as it is written. Rules that are stored can be edited and deleted. */
export function RuleItem({ rule, set, isBuiltIn = false }: { rule: PolicyRule; set: PolicySet; isBuiltIn?: boolean }) {
  const { policy_id, effect, description, when } = rule;
  return (
    <li>
      <p>
        <Badge state={effect} /> <code>{policy_id}</code>{' '}
        {isBuiltIn && <span className={textStyles.soft}>(built-in) </span>}
        {!isBuiltIn && <RuleButtons rule={rule} set={set} />}
      </p>
      {Boolean(description) && <p>{description}</p>}
      <Scope rule={rule} />
      {when !== undefined && <Condition of={policy_id}>{when}</Condition>}
    </li>
  );
}

function Condition({ of, children }: { of: string; children: ReactNode }) {
  return (
    <>
      <p>If this condition is true:</p>
      <pre tabIndex={0} role="region" aria-label={`Condition of the rule ${of}`}>
        {children}
      </pre>
    </>
  );
}

function Scope({ rule }: { rule: PolicyRule }) {
  const nameOf = useProjectNames();
  const { tools, projects, approvers = 1, approval_ttl_seconds, starter_may_decide, approver_roles, effect } = rule;
  const isLong = tools !== undefined && tools.length > maxListed;
  const operations = tools === undefined ? 'all operations' : isLong ? `${tools.length} operations` : listOf(tools);
  const place = projects === undefined ? 'all projects' : projects.map(nameOf).join(', ');
  const decisions = effect === 'require_approval' && [
    approvers > 1 ? `${approvers} people must approve` : 'One person must approve',
    approver_roles && ` (${approver_roles.map(roleName).join(' or ')})`,
    approval_ttl_seconds !== undefined && ` within ${durationOf(approval_ttl_seconds)}`,
    starter_may_decide === true && '; the person who caused the call may decide',
    '.',
  ];
  return (
    <>
      <p>
        Applies to {operations} in <bdi>{place}</bdi>. {decisions}
      </p>
      {isLong && (
        <details>
          <summary>Operations</summary>
          {listOf(tools)}
        </details>
      )}
    </>
  );
}

/** Quoted, because each is a sentence. */
const listOf = (tools: readonly string[]) => tools.map((tool) => `“${operationText(tool)}”`).join(', ');

function durationOf(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

function RuleButtons({ rule, set }: { rule: PolicyRule; set: PolicySet }) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const may = useMay();
  const { policy_id } = rule;
  const { version } = set;
  return (
    <>
      {may('patch /v1/policies/rules/{policy_id}') && (
        <ActionButton
          name="Edit…"
          aria-label={`Edit the rule ${policy_id}…`}
          className={buttonStyles.plain}
          onClick={() => setOpen(true)}
        />
      )}
      <ConfirmButton
        operation="delete /v1/policies/rules/{policy_id}"
        button="Delete…"
        buttonName={`Delete the rule ${policy_id}…`}
        className={buttonStyles.plain}
        title={`Delete the rule ${policy_id}?`}
        action="Delete rule"
        isFinal
        act={(options) =>
          call(
            'delete',
            '/v1/policies/rules/{policy_id}',
            {
              params: { policy_id },
              query: { expected_version: version, ...(reason.trim() !== '' && { reason: reason.trim() }) },
            },
            options,
          )
        }
        invalidates={[['policies']]}
      >
        <p>
          All other rules stay as they are. The change takes effect immediately. Approvals that have not been used yet
          must be requested again.
        </p>
        <Reason text={reason} onChange={setReason} />
      </ConfirmButton>
      {isOpen && <RuleDialog rule={rule} set={set} onClose={() => setOpen(false)} />}
    </>
  );
}
