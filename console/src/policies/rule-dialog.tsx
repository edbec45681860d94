import { useState } from 'react';
import { call, type PolicyRule, type PolicySet } from '../api.js';
import { Confirm } from '../confirm.js';
import { Reason } from '../field.js';
import { ActionButton, Problem } from '../parts.js';
import { RuleFields } from './rule-fields.js';
import { changesOf, fieldsOf, newRule, ruleOf, type Fields } from './rule-values.js';
import { Simulation } from './simulation.js';
import { Trial } from './trial.js';

interface DialogOptions {
  /** The rule to edit; a new one by default. */
  rule?: PolicyRule;
  set: PolicySet;
  onClose: () => void;
}

/** Adds or edits one rule. The other rules stay. It can be tried on recorded and on written calls before it is saved. */
export function RuleDialog({ rule, set, onClose }: DialogOptions) {
  const [fields, setFields] = useState(() => fieldsOf(rule ?? newRule));
  const [reason, setReason] = useState('');
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
    const why = reason.trim() === '' ? {} : { reason: reason.trim() };
    if (!rule) return call('post', '/v1/policies/rules', { body: { ...edited, ...why } }, options);
    const body = { ...changesOf(rule, edited), ...why, expected_version: set.version };
    const params = { policy_id: rule.policy_id };
    return call('patch', '/v1/policies/rules/{policy_id}', { params, body }, options);
  };
  return (
    <Confirm
      title={rule ? `Edit the rule ${rule.policy_id}` : 'Add a rule'}
      action={rule ? 'Save rule' : 'Add rule'}
      act={act}
      // What Cedar finds wrong is named by the rule.
      nameOf={(path) => (path === fields.policy_id.trim() ? 'when' : path)}
      invalidates={[['policies']]}
      onClose={onClose}
      isDrawer
      tools={<ActionButton name="Try on recorded calls" onClick={attempt} />}
      below={
        <>
          <Problem error={error} />
          {tried && <Simulation key={JSON.stringify(tried)} candidate={{ rule: tried }} onFailure={setError} />}
          <details>
            <summary>Try on a call that you write</summary>
            <Trial
              level={3}
              edited={{ name: 'The rules in force with this rule', candidate: () => ({ rule: ruleOf(fields) }) }}
            />
          </details>
        </>
      }
    >
      <p>All other rules stay as they are. The change takes effect immediately.</p>
      <RuleFields fields={fields} isNew={!rule} onChange={change} />
      <Reason text={reason} onChange={setReason} />
    </Confirm>
  );
}
