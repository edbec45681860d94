import type { PolicyRule } from '../api.js';
import { CodeField } from '../code/code-field.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { roleName } from '../roles.js';
import { projectId } from '../session.js';
import { useProjectNames } from '../use-names.js';
import { ChosenOperations, Operations } from './operations.js';
import { Comparisons } from './comparisons.js';
import { comparisonsIn, conditionOf, type Comparison } from './condition.js';
import { completionsOf, placeInCondition } from './cedar-help.js';
import { useFacts } from './facts.js';
import type { Fields } from './rule-values.js';
import messageStyles from '../styles/message.module.css';
import formStyles from '../styles/form.module.css';

const effects = [
  { value: 'require_approval', name: 'Ask somebody first (require approval)' },
  { value: 'forbid', name: 'Forbid' },
  { value: 'permit', name: 'Permit' },
];
const adminRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN'] as const;

interface FieldsOptions {
  fields: Fields;
  onChange: (changed: Partial<Fields>) => void;
}

/** A rule in the order of a sentence: who does what, where and when, and what happens then. */
export function RuleFields({ fields, isNew, onChange }: FieldsOptions & { isNew: boolean }) {
  return (
    <div className={formStyles.editor}>
      {isNew && (
        <TextField
          label="Id"
          name="policy_id"
          hint="Lower case letters, digits, dots, dashes and underscores"
          text={fields.policy_id}
          onChange={(text) => onChange({ policy_id: text })}
          maxLength={100}
          autoFocus
        />
      )}
      <TextField
        label="Description (shown to people and agents)"
        name="description"
        text={fields.description}
        onChange={(text) => onChange({ description: text })}
        maxLength={500}
      />
      <Condition fields={fields} onChange={onChange} />
      <fieldset>
        <legend>Then</legend>
        <SelectField
          label="Effect"
          name="effect"
          value={fields.effect}
          options={effects}
          onChange={(value) => onChange({ effect: value })}
        />
        {fields.effect === 'require_approval' && <ApprovalFields fields={fields} onChange={onChange} />}
      </fieldset>
    </div>
  );
}

/** The form and the Cedar text show the same condition. A text that is more than comparisons is edited only as text. */
function Condition({ fields, onChange }: FieldsOptions) {
  const { tools, when } = fields;
  const { who, call } = useFacts(tools);
  const facts = [...who, ...call];
  const rows = comparisonsIn(when, (path) => facts.find((fact) => fact.path === path)?.type);
  const isWho = ({ path }: Comparison) => path.startsWith('principal.');
  const set = (callers: readonly Comparison[], others: readonly Comparison[]) =>
    onChange({ when: conditionOf([...callers, ...others]) });
  const [callers, others] = [rows?.filter(isWho) ?? [], rows?.filter((row) => !isWho(row)) ?? []];
  const onlyText = (
    <p className={messageStyles.note}>The condition is more than a list of comparisons. Edit it below.</p>
  );
  return (
    <>
      <fieldset>
        <legend>Who</legend>
        {rows ? (
          <Comparisons
            addName={callers.length === 0 ? 'Everybody. Limit it to some…' : 'And also'}
            facts={who}
            rows={callers}
            onChange={(next) => set(next, others)}
          />
        ) : (
          onlyText
        )}
      </fieldset>
      <fieldset>
        <legend>Does what</legend>
        <ChosenOperations tools={tools} onChange={(next) => onChange({ tools: next })} />
      </fieldset>
      <fieldset>
        <legend>Where</legend>
        <Projects projects={fields.projects} onChange={(projects) => onChange({ projects })} />
      </fieldset>
      <fieldset>
        <legend>When</legend>
        {rows ? (
          <Comparisons
            addName={others.length === 0 ? 'Always. Add a condition…' : 'And also'}
            facts={call}
            rows={others}
            onChange={(next) => set(callers, next)}
          />
        ) : (
          onlyText
        )}
        <CodeField
          label="Who and when as a condition in Cedar (empty: everybody, always)"
          name="when"
          language="cedar"
          text={when}
          onChange={(text) => onChange({ when: text })}
          completions={completionsOf(facts)}
          placeOf={(problem) => placeInCondition(when, problem)}
        />
        <Operations tools={tools} />
      </fieldset>
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
