import { useState } from 'react';
import { call } from '../api.js';
import { Facts } from '../facts.js';
import { Form, TextField, SelectField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { Badge, Section } from '../parts.js';
import { roleName } from '../roles.js';
import { useDrafts } from '../use-draft.js';
import { useSubmit } from '../use-submit.js';

const evaluate = (body: unknown) => call('post', '/v1/policies/evaluate', { body: body as never });
type Decision = Awaited<ReturnType<typeof evaluate>>;

const channels = ['rest', 'mcp', 'console', 'schedule', 'agent', 'callback'].map((value) => ({ value }));

export function Trial() {
  const { drafts, set } = useDrafts('policies.trial');
  const { tool = '', channel = 'rest', input = '{}', principal = '{}' } = drafts;
  const [decision, setDecision] = useState<Decision>();
  const [parsedInput, parsedPrincipal] = [parsed(input), parsed(principal)];
  const { error, isBusy, submit } = useSubmit(async () => {
    if ('problem' in parsedInput || 'problem' in parsedPrincipal) return;
    setDecision(undefined);
    const { value: caller } = parsedPrincipal;
    setDecision(await evaluate({ tool: tool.trim(), channel, input: parsedInput.value, principal: caller }));
  });
  return (
    <Section title="Evaluate a call">
      <p>Shows what the policies in force decide about a call, without making it.</p>
      <Form className="narrow" error={error} onSubmit={() => void submit()}>
        <TextField
          label="Operation or tool"
          name="tool"
          text={tool}
          onChange={(text) => set('tool', text)}
          maxLength={100}
        />
        <SelectField label="Channel" value={channel} options={channels} onChange={(value) => set('channel', value)} />
        <JsonField
          label="Input (JSON)"
          name="input"
          rows={4}
          text={input}
          onChange={(text) => set('input', text)}
          problems={'problem' in parsedInput ? [parsedInput.problem] : []}
        />
        <JsonField
          name="principal"
          label="Caller, if it is not you (JSON: user_id, role, kind, client_id, grants)"
          rows={2}
          text={principal}
          onChange={(text) => set('principal', text)}
          problems={'problem' in parsedPrincipal ? [parsedPrincipal.problem] : []}
        />
        <p className="actions">
          <button className="primary" disabled={isBusy}>
            Evaluate
          </button>
        </p>
      </Form>
      <div role="status">{decision && <Outcome decision={decision} />}</div>
    </Section>
  );
}

function Outcome({ decision: outcome }: { decision: Decision }) {
  const { decision, policy_ids, policy_version, reason, approvers, approver_roles, approval_ttl_seconds } = outcome;
  const isHeld = decision === 'require_approval';
  return (
    <>
      <p>
        <Badge state={decision} />
      </p>
      <Facts
        of={{
          Rules: policy_ids.join(', ') || 'No rule permits this call',
          Reason: reason,
          Approvers: isHeld && String(approvers),
          'Approver roles': isHeld && approver_roles?.map(roleName).join(' or '),
          'Time limit for approval (seconds)': isHeld && String(approval_ttl_seconds),
          'Policy version': policy_version,
        }}
      />
    </>
  );
}
