import { Field } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { AgentForm, type FormOptions } from './agent-form.js';
import { idOf, isFields, text, withAgent, withNewAgent, withValueAt } from './document.js';
import { useSelectedAgent, type Editor } from './use-editor.js';

/** Renders the fields of the agentflow and of the selected agent. */
export function FormView(props: FormOptions) {
  const { document, problems, onChange } = props;
  const { at, select } = useSelectedAgent(document);
  const set = (name: string, value: unknown) => onChange({ ...document, [name]: value });
  return (
    <>
      <fieldset>
        <legend>Agentflow</legend>
        <Field label="Name" problem={problems.name}>
          {(control) => (
            <input {...control} value={text(document.name)} onChange={(event) => set('name', event.target.value)} />
          )}
        </Field>
        <Field label="Description" problem={problems.description}>
          {(control) => (
            <textarea
              {...control}
              rows={2}
              value={text(document.description)}
              onChange={(event) => set('description', event.target.value)}
            />
          )}
        </Field>
        <FirstAgent {...props} />
        <label>
          <input
            type="checkbox"
            checked={document.isActive !== false}
            onChange={(event) => set('isActive', event.target.checked)}
          />{' '}
          Active (runs can start)
        </label>
        <Safeguards {...props} />
      </fieldset>
      <AgentChoice {...props} chosen={at} onSelect={select} />
      <AgentForm {...props} at={at} onSelect={select} />
    </>
  );
}

/** Edits what happens when a run fails or looks unusual. */
function Safeguards({ document, problems, onChange }: FormOptions) {
  const { failover_goal: failover, anomaly_detection: anomaly } = document;
  const set = (path: string, value: unknown) =>
    onChange({ ...withValueAt(document, path, value), agents: document.agents });
  return (
    <>
      {/* Any other value can only be edited as JSON. */}
      {(failover === undefined || failover === null || typeof failover === 'string') && (
        <Field
          label="Failover goal"
          problem={problems.failover_goal}
          hint="If a run fails, the agentflow restarts once with this goal. Leave empty to let the run fail."
        >
          {(control) => (
            <input
              {...control}
              value={text(failover)}
              onChange={(event) => set('failover_goal', event.target.value || null)}
            />
          )}
        </Field>
      )}
      <label>
        <input
          type="checkbox"
          checked={isFields(anomaly) && anomaly.is_enabled === true}
          onChange={(event) => set('anomaly_detection.is_enabled', event.target.checked)}
        />{' '}
        Detect anomalies in each run
      </label>
      <Field label="Instructions for anomaly detection" problem={problems['anomaly_detection.instructions']}>
        {(control) => (
          <textarea
            {...control}
            rows={2}
            value={isFields(anomaly) ? text(anomaly.instructions) : ''}
            onChange={(event) => set('anomaly_detection.instructions', event.target.value)}
          />
        )}
      </Field>
    </>
  );
}

function FirstAgent({ document, problems, onChange }: FormOptions) {
  const first = text(document.initialAgent);
  return (
    <Field label="First agent" problem={problems.initialAgent}>
      {(control) => (
        <select
          {...control}
          value={first}
          onChange={(event) => onChange({ ...document, initialAgent: event.target.value })}
        >
          {first === '' && <option value="">First in the list</option>}
          {first !== '' && !document.agents.some((agent) => idOf(agent) === first) && (
            <option value={first}>{first}</option>
          )}
          {document.agents.map((agent) => (
            <option key={idOf(agent)} value={idOf(agent)}>
              {text(agent.title) || idOf(agent)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface ChoiceOptions extends FormOptions {
  chosen: number;
  onSelect: (id: string) => void;
}

function AgentChoice({ document, problems, onChange, chosen, onSelect }: ChoiceOptions) {
  const invalidFields = new Set(Object.keys(problems).map((name) => name.split('.')[0]));
  return (
    <ul className="chips" aria-label="Agents">
      {document.agents.map((agent, at) => (
        <li key={at}>
          <button type="button" aria-pressed={at === chosen} onClick={() => onSelect(idOf(agent))}>
            <bdi>{text(agent.title) || idOf(agent)}</bdi>
            {invalidFields.has(String(at)) && <span className="bad"> is not valid</span>}
          </button>
        </li>
      ))}
      <li>
        <button
          type="button"
          onClick={() => {
            const next = withNewAgent(document);
            onChange(next);
            onSelect(idOf(next.agents.at(-1) ?? {}));
          }}
        >
          Add agent
        </button>
      </li>
    </ul>
  );
}

/** Renders the agents as a graph. Drawing an edge sets the next agent, as the form below does. */
export function GraphView(props: FormOptions) {
  const { document, onChange } = props;
  const { at, select } = useSelectedAgent(document);
  const ids = new Set(document.agents.map(idOf));
  const edges = document.agents.flatMap((agent) => {
    const to = text(agent.next_agent);
    return ids.has(to) ? [{ from: idOf(agent), to }] : [];
  });
  const connect = ({ from, to }: { from: string; to: string }) => {
    const index = document.agents.findIndex((agent) => idOf(agent) === from);
    const agent = document.agents[index];
    if (agent) onChange(withAgent(document, index, { ...agent, next_agent: to }));
  };
  return (
    <>
      <LazyGraph
        label="Graph of the agents"
        nodes={document.agents.map((agent) => ({
          id: idOf(agent),
          title: text(agent.title) || idOf(agent),
          detail: detailOf(agent, idOf(agent) === text(document.initialAgent)),
        }))}
        edges={edges}
        selected={idOf(document.agents[at] ?? {})}
        onSelect={select}
        onConnect={connect}
      />
      <AgentChoice {...props} chosen={at} onSelect={select} />
      <AgentForm {...props} at={at} onSelect={select} />
    </>
  );
}

function detailOf(agent: Record<string, unknown>, isFirst: boolean): string {
  const skills = Array.isArray(agent.skills) ? agent.skills.length : 0;
  return [isFirst && 'first agent', text(agent.role), skills > 0 && `${skills} ${skills === 1 ? 'skill' : 'skills'}`]
    .filter(Boolean)
    .join(', ');
}

/** Edits the whole document, including fields that the form does not have. */
export function JsonView({ editor, isReadOnly }: { editor: Editor; isReadOnly: boolean }) {
  const read = parsed(editor.text);
  const problem = 'problem' in read ? read.problem : editor.textProblem && { message: editor.textProblem };
  return (
    <JsonField
      label="Agentflow as JSON"
      rows={28}
      text={editor.text}
      onChange={editor.setText}
      problems={problem ? [problem] : []}
      isReadOnly={isReadOnly}
    />
  );
}
