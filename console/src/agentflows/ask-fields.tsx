import { CheckField, SelectField, type Option } from '../field.js';
import { roleName } from '../roles.js';
import { isFields, text, type Fields } from './document.js';
import { Lines } from './lines.js';
import textStyles from '../styles/text.module.css';

/** Roles whose people can answer a question. */
const answeringRoles = ['OWNER', 'ORG_ADMIN', 'PROJECT_ADMIN', 'APPROVER', 'EDITOR', 'MEMBER'] as const;

interface ToOptions {
  label: string;
  problem: string | undefined;
  value: unknown;
  onChange: (to: Fields | null) => void;
}

/** Chooses who may answer: everybody who decides, or people with some roles and single people. */
export function AnswersField({ label, problem, value, onChange }: ToOptions) {
  const to = isFields(value) ? value : {};
  const listOf = (name: string) => (Array.isArray(to[name]) ? (to[name] as unknown[]).map(text) : []);
  const [roles, people] = [listOf('roles'), listOf('people')];
  const set = (next: { roles: string[]; people: string[] }) =>
    onChange(next.roles.length + next.people.length === 0 ? null : next);
  return (
    <fieldset>
      <legend>{label}</legend>
      <p className={textStyles.soft}>Without a choice, everybody with a role that decides.</p>
      {problem !== undefined && (
        <p className={textStyles.bad} role="alert">
          {label} {problem}
        </p>
      )}
      {answeringRoles.map((role) => (
        <CheckField
          key={role}
          label={roleName(role)}
          isChecked={roles.includes(role)}
          onChange={(isChosen) =>
            set({ roles: answeringRoles.filter((each) => (each === role ? isChosen : roles.includes(each))), people })
          }
        />
      ))}
      <Lines
        label="People"
        hint="User ids, one per line."
        problem={undefined}
        value={people}
        onChange={(lines) => set({ roles, people: lines })}
      />
    </fieldset>
  );
}

interface TimeoutOptions {
  label: string;
  problem: string | undefined;
  value: unknown;
  targets: readonly Option[];
  onChange: (to: string | null) => void;
}

/** Chooses what follows if nobody answers in time. */
export function TimeoutField({ value = 'fail', targets, onChange, ...field }: TimeoutOptions) {
  return (
    <SelectField
      {...field}
      value={text(value)}
      options={[{ value: 'fail', name: 'Fail the step' }, ...targets]}
      onChange={(to) => onChange(to || null)}
    />
  );
}
