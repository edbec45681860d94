import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { ActionButton, Problem } from '../parts.js';
import { readAll } from '../read-all.js';
import { agentFields, type AgentField } from './agent-fields.js';
import {
  idOf,
  isFields,
  nodeName,
  nodesOf,
  skillOf,
  text,
  titleOf,
  valueAt,
  withAgent,
  withValueAt,
  type Fields,
  type FlowDocument,
} from './document.js';
import { withoutNode } from './nodes.js';
import { IdField } from './id-field.js';
import { Lines } from './lines.js';
import { NumberField } from './number-field.js';
import { SchemaField } from './schema-field.js';
import { TryButton } from './try-step.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import listStyles from '../styles/lists.module.css';

export interface FormOptions {
  document: FlowDocument;
  /** The API's validation errors, by field. */
  problems: Readonly<Record<string, string>>;
  onChange: (document: FlowDocument) => void;
}

/** The form of one agent or step. */
export interface AgentOptions extends FormOptions {
  /** Its place among the agents and then the steps. */
  at: number;
}

export function AgentForm({ document, at, problems, onChange }: AgentOptions) {
  const agent = document.agents[at];
  if (!agent) return null;
  const set = (path: string, value: unknown) => onChange(withAgent(document, at, withValueAt(agent, path, value)));
  return (
    <fieldset>
      <legend>Agent {titleOf(agent)}</legend>
      {agentFields.map((field) => {
        // Another agent has other problems.
        const key = `${at}.${field.path}`;
        const problem = problems[key];
        if (field.path === '_id')
          return (
            <IdField
              key={key}
              label={field.label}
              hint={field.hint}
              problem={problem}
              document={document}
              at={at}
              onChange={onChange}
            />
          );
        return (
          <Value
            key={key}
            {...field}
            value={valueAt(agent, field.path)}
            followers={nodesOf(document).filter((other) => other !== agent)}
            problem={problem}
            onChange={(value) => set(field.path, value)}
          />
        );
      })}
      <p>
        <TryButton node={agent} />{' '}
        <ActionButton name="Remove agent" onClick={() => onChange(withoutNode(document, at))} />
      </p>
    </fieldset>
  );
}

interface ValueOptions extends AgentField {
  value: unknown;
  /** The other agents and the steps of the agentflow. */
  followers: readonly Fields[];
  problem: string | undefined;
  onChange: (value: unknown) => void;
}

function Value({ kind, label, hint, rows, value, followers, problem, onChange }: ValueOptions) {
  const field = { label, hint, problem };
  switch (kind) {
    case 'check':
      return <CheckField label={label} isChecked={value === true} onChange={onChange} />;
    case 'lines':
      return <Lines {...field} value={value} onChange={onChange} />;
    case 'agent':
      return (
        <SelectField
          {...field}
          value={text(value)}
          options={[
            { value: '', name: 'None (end of the agentflow)' },
            ...followers.map((node) => ({ value: idOf(node), name: nodeName(node) })),
          ]}
          onChange={(next) => onChange(next || null)}
        />
      );
    case 'skills':
      return <Skills value={value} problem={problem} onChange={onChange} />;
    case 'schema':
      return <SchemaField {...field} value={value} onChange={onChange} />;
    case 'number':
      return <NumberField {...field} value={value} onChange={onChange} />;
    default:
      return <TextField {...field} rows={rows} text={text(value)} onChange={onChange} />;
  }
}

/** Lists the skills with their actions, and adds skills of the project. Their details can only be edited as JSON. */
function Skills({ value, problem, onChange }: Pick<ValueOptions, 'value' | 'problem' | 'onChange'>) {
  const { data, error } = useQuery({
    queryKey: ['skills'],
    queryFn: () => readAll((query) => call('get', '/skill', { query })),
    staleTime: 60_000,
  });
  const skills = (Array.isArray(value) ? value : []).filter(isFields);
  const addable = data?.filter(({ _id }) => !skills.some((skill) => skill._id === _id)) ?? [];
  const add = (id: string) =>
    onChange([...skills, ...addable.filter(({ _id }) => _id === id).map((skill) => skillOf(skill))]);
  return (
    <div role="group" aria-label="Skills and actions">
      <p>
        <strong>Skills and actions</strong>
      </p>
      {problem !== undefined && (
        <p className={textStyles.bad} role="alert">
          {problem}
        </p>
      )}
      <Problem error={error} />
      {skills.length === 0 && <p className={textStyles.soft}>No skills.</p>}
      <ul className={listStyles.rows}>
        {skills.map((skill, at) => (
          <li key={text(skill._id) || at}>
            <bdi>{text(skill.name)}</bdi> <span className={textStyles.soft}>{actionsText(skill)}</span>{' '}
            <button
              type="button"
              className={buttonStyles.small}
              onClick={() => onChange(skills.filter((other) => other !== skill))}
            >
              Remove<span className={textStyles.hidden}> the skill {text(skill.name)}</span>
            </button>
          </li>
        ))}
      </ul>
      {addable.length > 0 && (
        <SelectField
          label="Add skill"
          value=""
          options={[{ value: '', name: 'Select a skill' }, ...addable.map(({ _id, name }) => ({ value: _id, name }))]}
          onChange={add}
        />
      )}
      <p className={textStyles.soft}>To edit the details of skills and actions, use the JSON view.</p>
    </div>
  );
}

function actionsText({ actions }: Fields): string {
  const names = (Array.isArray(actions) ? actions : []).filter(isFields).map(({ name }) => text(name));
  return names.length === 0 ? 'no actions' : names.join(', ');
}
