import { CheckField, SelectField, TextField } from '../field.js';
import { ActionButton } from '../parts.js';
import { Changes } from '../read-only.js';
import { Skills } from '../skills/skills.js';
import { agentFields, type AgentField } from './agent-fields.js';
import {
  idOf,
  nodeName,
  nodesOf,
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
        if (field.kind === 'skills') {
          const within = Object.keys(problems).filter((name) => name.startsWith(`${key}.`));
          return (
            <Skills
              key={key}
              value={agent.skills}
              problemOf={(path) => problems[path === '' ? key : `${key}.${path}`]}
              wrong={within.map((name) => name.slice(key.length + 1))}
              onChange={(value) => set(field.path, value)}
            />
          );
        }
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
        <Changes>
          <ActionButton name="Remove agent" onClick={() => onChange(withoutNode(document, at))} />
        </Changes>
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
    case 'schema':
      return <SchemaField {...field} value={value} onChange={onChange} />;
    case 'number':
      return <NumberField {...field} value={value} onChange={onChange} />;
    default:
      return <TextField {...field} rows={rows} text={text(value)} onChange={onChange} />;
  }
}
