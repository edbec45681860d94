import { useId, useState } from 'react';
import { call, validationError } from '../api.js';
import { Facts } from '../facts.js';
import { Form, TextField, SelectField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { Badge, Section } from '../parts.js';
import { roleName } from '../roles.js';
import { useDrafts } from '../use-draft.js';
import { useSubmit } from '../use-submit.js';
import { OperationChoices, useOperations } from './operations.js';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';
import formStyles from '../styles/form.module.css';

const evaluate = (body: unknown) => call('post', '/v1/policies/evaluate', { body: body as never });
type Decision = Awaited<ReturnType<typeof evaluate>>;

const channels = ['rest', 'mcp', 'console', 'schedule', 'agent', 'callback'].map((value) => ({ value }));

const inForce = 'The rules in force';

interface TrialOptions {
  /** Rules that the person edits, and what to send of them. */
  edited: { name: string; candidate(): object } | undefined;
  level?: 2 | 3;
}

/** Decides a call that the person writes, by the rules in force or by edited ones, without making it. */
export function Trial({ edited, level = 2 }: TrialOptions) {
  const { drafts, set } = useDrafts('policies.trial');
  const { tool = '', channel = 'rest', principal = '{}' } = drafts;
  const [rules, setRules] = useState(edited?.name ?? inForce);
  const choices = useId();
  const [decision, setDecision] = useState<Decision>();
  const operation = useOperations()?.find(({ name, alias }) => [name, alias].includes(tool.trim()));
  const parsedPrincipal = parsed(principal);
  const { error, isBusy, submit } = useSubmit(async () => {
    if ('problem' in parsedPrincipal) return;
    setDecision(undefined);
    const candidate = edited && rules !== inForce ? edited.candidate() : {};
    const facts = factsIn(operation, drafts);
    setDecision(await evaluate({ tool: tool.trim(), channel, facts, principal: parsedPrincipal.value, ...candidate }));
  });
  return (
    <Section title="Evaluate a call" level={level}>
      <p>Shows what the policies decide about a call that you write, without making it.</p>
      <Form className={formStyles.narrow} error={error} onSubmit={() => void submit()}>
        {edited && (
          <SelectField
            label="Decide by"
            name="rules"
            value={rules}
            options={[{ value: inForce }, { value: edited.name }]}
            onChange={setRules}
          />
        )}
        <TextField
          label="Operation or tool"
          name="tool"
          list={choices}
          text={tool}
          onChange={(text) => set('tool', text)}
          maxLength={100}
        />
        <OperationChoices id={choices} />
        <SelectField label="Channel" value={channel} options={channels} onChange={(value) => set('channel', value)} />
        {operation?.facts.map((fact) => (
          <FactField key={fact.name} fact={fact} text={drafts[keyOf(fact)] ?? ''} onChange={set} />
        ))}
        <JsonField
          name="principal"
          label="Caller, if it is not you (JSON: user_id, role, kind, client_id, grants)"
          rows={2}
          text={principal}
          onChange={(text) => set('principal', text)}
          problems={'problem' in parsedPrincipal ? [parsedPrincipal.problem] : []}
        />
        <p className={controlStyles.actions}>
          <button className={buttonStyles.primary} disabled={isBusy}>
            Evaluate
          </button>
        </p>
      </Form>
      <div role="status">{decision && <Outcome decision={decision} />}</div>
    </Section>
  );
}

type Operation = NonNullable<ReturnType<typeof useOperations>>[number];
type Fact = Operation['facts'][number];

/** @throws ServiceError if the text is not JSON */
export function rulesIn(text: string): unknown {
  const result = parsed(text);
  if ('problem' in result) throw validationError('rules', result.problem.message);
  return result.value;
}

/** Operations share facts such as `agent_id`, so a text stays when another operation is chosen. */
const keyOf = ({ name }: Fact) => `fact.${name}`;

function factsIn(operation: Operation | undefined, drafts: Readonly<Record<string, string>>): Record<string, unknown> {
  const filled = operation?.facts.filter((fact) => (drafts[keyOf(fact)] ?? '') !== '') ?? [];
  return Object.fromEntries(filled.map((fact) => [fact.name, valueOf(fact, drafts[keyOf(fact)] ?? '')]));
}

function valueOf({ name, type }: Fact, text: string): unknown {
  if (type === 'Boolean') return text === 'true';
  if (type === 'Set') return text.split(',').map((item) => item.trim());
  if (type === 'String' || type === 'Decimal') return text;
  const value = Number(text);
  if (!Number.isInteger(value)) throw validationError(`facts.${name}`, 'must be an integer');
  return value;
}

const hints = {
  Long: 'An integer',
  Decimal: 'A number with one to four decimal places, such as 120.00',
  Set: 'Several values, separated by commas',
} as const;

interface FactOptions {
  fact: Fact;
  text: string;
  onChange: (key: string, text: string) => void;
}

function FactField({ fact, text, onChange }: FactOptions) {
  const { name, type } = fact;
  const field = { label: <code>{name}</code>, name: `facts.${name}` };
  if (type === 'Boolean')
    return (
      <SelectField
        {...field}
        value={text === '' ? 'false' : text}
        options={[{ value: 'false' }, { value: 'true' }]}
        onChange={(value) => onChange(keyOf(fact), value)}
      />
    );
  return (
    <TextField
      {...field}
      {...(type !== 'String' && { hint: hints[type] })}
      text={text}
      onChange={(value) => onChange(keyOf(fact), value)}
    />
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
