import { ActionButton } from '../parts.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { quantity } from '../quantity.js';
import { AgentForm, type FormOptions } from './agent-form.js';
import { ConcurrencyFields } from './concurrency-fields.js';
import { idOf, isFields, nodeName, nodesOf, text, titleOf, withAgent, withNewAgent, withValueAt } from './document.js';
import { useSelectedAgent, type Editor } from './use-editor.js';

export function FieldsView({ isGraph, ...props }: FormOptions & { isGraph: boolean }) {
  const { at, select } = useSelectedAgent(props.document);
  return (
    <>
      {isGraph ? <AgentGraph {...props} chosen={at} onSelect={select} /> : <FlowFields {...props} />}
      <AgentChoice {...props} chosen={at} onSelect={select} />
      <AgentForm {...props} at={at} onSelect={select} />
    </>
  );
}

function FlowFields(props: FormOptions) {
  const { document, problems, onChange } = props;
  const set = (name: string) => (value: unknown) => onChange({ ...document, [name]: value });
  return (
    <fieldset>
      <legend>Agentflow</legend>
      <TextField label="Name" problem={problems.name} text={text(document.name)} onChange={set('name')} />
      <TextField
        label="Description"
        problem={problems.description}
        rows={2}
        text={text(document.description)}
        onChange={set('description')}
      />
      <FirstAgent {...props} />
      <CheckField label="Active (runs can start)" isChecked={document.isActive !== false} onChange={set('isActive')} />
      <Safeguards {...props} />
      <ConcurrencyFields {...props} />
    </fieldset>
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
        <TextField
          label="Failover goal"
          problem={problems.failover_goal}
          hint="If a run fails, the agentflow restarts once with this goal. Leave empty to let the run fail."
          text={text(failover)}
          onChange={(goal) => set('failover_goal', goal || null)}
        />
      )}
      <CheckField
        label="Detect anomalies in each run"
        isChecked={isFields(anomaly) && anomaly.is_enabled === true}
        onChange={(isChecked) => set('anomaly_detection.is_enabled', isChecked)}
      />
      <TextField
        label="Instructions for anomaly detection"
        problem={problems['anomaly_detection.instructions']}
        rows={2}
        text={isFields(anomaly) ? text(anomaly.instructions) : ''}
        onChange={(instructions) => set('anomaly_detection.instructions', instructions)}
      />
    </>
  );
}

function FirstAgent({ document, problems, onChange }: FormOptions) {
  const first = text(document.initialAgent);
  const nodes = nodesOf(document).map((node) => ({ value: idOf(node), name: nodeName(node) }));
  return (
    <SelectField
      label="First agent"
      problem={problems.initialAgent}
      value={first}
      options={[...(first === '' ? [{ value: '', name: 'First in the list' }] : []), ...nodes]}
      onChange={(initialAgent) => onChange({ ...document, initialAgent })}
    />
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
            <bdi>{titleOf(agent)}</bdi>
            {invalidFields.has(String(at)) && <span className="bad"> is not valid</span>}
          </button>
        </li>
      ))}
      <li>
        <ActionButton
          name="Add agent"
          onClick={() => {
            const next = withNewAgent(document);
            onChange(next);
            onSelect(idOf(next.agents.at(-1) ?? {}));
          }}
        />
      </li>
    </ul>
  );
}

/** Renders the agents as a graph. Drawing an edge sets the next agent, as the form below does. */
function AgentGraph({ document, onChange, chosen, onSelect }: ChoiceOptions) {
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
    <LazyGraph
      label="Graph of the agents"
      nodes={document.agents.map((agent) => ({
        id: idOf(agent),
        title: titleOf(agent),
        detail: detailOf(agent, idOf(agent) === text(document.initialAgent)),
      }))}
      edges={edges}
      selected={idOf(document.agents[chosen] ?? {})}
      onSelect={onSelect}
      onConnect={connect}
    />
  );
}

function detailOf(agent: Record<string, unknown>, isFirst: boolean): string {
  const skills = Array.isArray(agent.skills) ? agent.skills.length : 0;
  return [isFirst && 'first agent', text(agent.role), skills > 0 && quantity(skills, 'skill')]
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
