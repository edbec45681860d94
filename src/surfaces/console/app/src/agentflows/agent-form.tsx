import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import { Field } from '../field.js';
import { Problem } from '../parts.js';
import {
  idOf,
  isFields,
  skillOf,
  text,
  valueAt,
  withAgent,
  withoutAgent,
  withValueAt,
  type Fields,
  type FlowDocument,
} from './document.js';

export interface FormOptions {
  document: FlowDocument;
  /** The API's validation errors, by field. */
  problems: Readonly<Record<string, string>>;
  onChange: (document: FlowDocument) => void;
}

interface AgentOptions extends FormOptions {
  at: number;
  /** Called with the new id after an agent was renamed or removed. */
  onSelect: (id: string) => void;
}

export function AgentForm({ document, at, problems, onChange, onSelect }: AgentOptions) {
  const agent = document.agents[at];
  if (!agent) return null;
  const set = (path: string, value: unknown) => onChange(withAgent(document, at, withValueAt(agent, path, value)));
  const sharedProps = { agent, set, problemOf: (path: string) => problems[`${at}.${path}`] };
  return (
    <fieldset>
      <legend>Agent {text(agent.title) || idOf(agent)}</legend>
      <TextValue {...sharedProps} path="title" label="Title" />
      <Field label="Id" problem={sharedProps.problemOf('_id')} hint="Other agents and steps refer to this id.">
        {(control) => (
          <input
            {...control}
            value={idOf(agent)}
            onChange={(event) => {
              set('_id', event.target.value);
              onSelect(event.target.value);
            }}
          />
        )}
      </Field>
      <TextValue {...sharedProps} path="role" label="Agent role" />
      <TextValue {...sharedProps} path="agent_type" label="Agent type" hint="For example, skilled_agent." />
      <TextValue
        {...sharedProps}
        path="prompt.template"
        label="Prompt"
        rows={6}
        hint="A Liquid template, for example with {{ goal }} and {{ previous }}."
      />
      <Lines
        {...sharedProps}
        path="prompt.variables"
        label="Variables"
        hint="The variables that the prompt uses, one per line."
      />
      <NextAgent {...sharedProps} agents={document.agents} />
      <TextValue {...sharedProps} path="llm.model" label="Model" hint="Leave empty to use the default model." />
      <NumberValue {...sharedProps} path="llm.temperature" label="Temperature" />
      <NumberValue {...sharedProps} path="llm.max_tokens" label="Maximum tokens per response" />
      <TextValue {...sharedProps} path="role_description" label="Role description" rows={3} />
      <NumberValue {...sharedProps} path="max_turns" label="Maximum model turns" hint="Default: 12." />
      <NumberValue {...sharedProps} path="max_total_tokens" label="Maximum total tokens" hint="Default: 500,000." />
      <NumberValue
        {...sharedProps}
        path="preview_timeout_seconds"
        label="Preview timeout (seconds)"
        hint="Default: seven days."
      />
      <Switch {...sharedProps} path="has_knowledge_base" label="Use the knowledge base of the project" />
      <Switch {...sharedProps} path="is_preview_mode_enabled" label="Require approval before the agent acts" />
      <Skills {...sharedProps} />
      <p>
        <button type="button" onClick={() => onChange(withoutAgent(document, at))}>
          Remove agent
        </button>
      </p>
    </fieldset>
  );
}

interface ValueOptions {
  agent: Fields;
  set: (path: string, value: unknown) => void;
  problemOf: (path: string) => string | undefined;
}

type Named = ValueOptions & { path: string; label: string; hint?: string };

function TextValue({ agent, set, problemOf, path, label, hint, rows }: Named & { rows?: number }) {
  const value = text(valueAt(agent, path));
  return (
    <Field label={label} problem={problemOf(path)} hint={hint}>
      {(control) =>
        rows === undefined ? (
          <input {...control} value={value} onChange={(event) => set(path, event.target.value)} />
        ) : (
          <textarea {...control} rows={rows} value={value} onChange={(event) => set(path, event.target.value)} />
        )
      }
    </Field>
  );
}

/** Edits a list of strings, one per line. Any other value can only be edited as JSON. */
function Lines({ agent, set, problemOf, path, label, hint }: Named) {
  const value = valueAt(agent, path) ?? [];
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string')) return null;
  return (
    <Field label={label} problem={problemOf(path)} hint={hint}>
      {(control) => (
        <textarea
          {...control}
          rows={2}
          value={value.join('\n')}
          onChange={(event) => set(path, event.target.value === '' ? [] : event.target.value.split('\n'))}
          onBlur={() =>
            value.some(isBlank) &&
            set(
              path,
              value.filter((line) => !isBlank(line)),
            )
          }
        />
      )}
    </Field>
  );
}

const isBlank = (line: string) => line.trim() === '';

/** Keeps text that is not a number as it is. The API then returns a validation error. */
function NumberValue({ agent, set, problemOf, path, label, hint }: Named) {
  const value = valueAt(agent, path);
  return (
    <Field label={label} problem={problemOf(path)} hint={hint}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          value={typeof value === 'number' ? value : text(value)}
          onChange={(event) => set(path, numberIn(event.target.value))}
        />
      )}
    </Field>
  );
}

function numberIn(typed: string): number | string | undefined {
  if (typed === '') return undefined;
  // "1." and "0.10" are numbers that the person has not finished typing.
  return String(Number(typed)) === typed ? Number(typed) : typed;
}

function Switch({ agent, set, path, label }: Named) {
  return (
    <label>
      <input
        type="checkbox"
        checked={valueAt(agent, path) === true}
        onChange={(event) => set(path, event.target.checked)}
      />{' '}
      {label}
    </label>
  );
}

function NextAgent({ agent, set, problemOf, agents }: ValueOptions & { agents: readonly Fields[] }) {
  const next = text(agent.next_agent);
  const others = agents.filter((other) => other !== agent);
  return (
    <Field label="Next agent" problem={problemOf('next_agent')}>
      {(control) => (
        <select {...control} value={next} onChange={(event) => set('next_agent', event.target.value || null)}>
          <option value="">None (end of the agentflow)</option>
          {next !== '' && !others.some((other) => idOf(other) === next) && <option value={next}>{next}</option>}
          {others.map((other) => (
            <option key={idOf(other)} value={idOf(other)}>
              {text(other.title) || idOf(other)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Lists the skills with their actions, and adds skills of the project. Their details can only be edited as JSON. */
function Skills({ agent, set, problemOf }: ValueOptions) {
  const { data, error } = useQuery({
    queryKey: ['skills'],
    queryFn: () => call('get', '/skill', { query: { limit: 200 } }),
    staleTime: 60_000,
  });
  const skills = (Array.isArray(agent.skills) ? agent.skills : []).filter(isFields);
  const addable = data?.data.filter(({ _id }) => !skills.some((skill) => skill._id === _id)) ?? [];
  const problem = problemOf('skills');
  return (
    <div role="group" aria-label="Skills and actions">
      <p>
        <strong>Skills and actions</strong>
      </p>
      {problem !== undefined && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
      <Problem error={error} />
      {skills.length === 0 && <p className="soft">No skills.</p>}
      <ul className="rows">
        {skills.map((skill, at) => (
          <li key={text(skill._id) || at}>
            <bdi>{text(skill.name)}</bdi> <span className="soft">{actionsText(skill)}</span>{' '}
            <button
              type="button"
              className="small"
              onClick={() =>
                set(
                  'skills',
                  skills.filter((other) => other !== skill),
                )
              }
            >
              Remove<span className="hidden"> the skill {text(skill.name)}</span>
            </button>
          </li>
        ))}
      </ul>
      {addable.length > 0 && (
        <label>
          Add skill
          <select
            value=""
            onChange={(event) => {
              const chosen = addable.find(({ _id }) => _id === event.target.value);
              if (chosen) set('skills', [...skills, skillOf(chosen)]);
            }}
          >
            <option value="">Select a skill</option>
            {addable.map(({ _id, name }) => (
              <option key={_id} value={_id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <p className="soft">To edit the details of skills and actions, use the JSON view.</p>
    </div>
  );
}

function actionsText({ actions }: Fields): string {
  const names = (Array.isArray(actions) ? actions : []).filter(isFields).map(({ name }) => text(name));
  return names.length === 0 ? 'no actions' : names.join(', ');
}
