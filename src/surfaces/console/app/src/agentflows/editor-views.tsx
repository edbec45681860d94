import { ActionButton } from '../parts.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { quantity } from '../quantity.js';
import { edgesOf, reachableFrom } from '../flow/pointers.js';
import { AddStep } from './add-step.js';
import { AgentForm, type FormOptions } from './agent-form.js';
import { ConcurrencyFields } from './concurrency-fields.js';
import { idOf, isFields, nodeName, nodesOf, text, titleOf, withValueAt, type Fields } from './document.js';
import { connected, withNewNode } from './nodes.js';
import type { StepType } from './step-fields.js';
import { StepForm } from './step-form.js';
import { useSelectedNode, type Editor } from './use-editor.js';

interface FieldsViewOptions extends FormOptions {
  isGraph: boolean;
  mayEdit: boolean;
}

export function FieldsView({ isGraph, mayEdit, ...props }: FieldsViewOptions) {
  const { at, select } = useSelectedNode(props.document);
  return (
    <>
      {isGraph ? <FlowGraph {...props} chosen={at} onSelect={select} /> : <FlowFields {...props} />}
      <NodeChoice {...props} mayAdd={mayEdit} chosen={at} onSelect={select} />
      {at < props.document.agents.length ? <AgentForm {...props} at={at} /> : <StepForm {...props} at={at} />}
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
      label={document.steps?.length ? 'First agent or step' : 'First agent'}
      problem={problems.initialAgent}
      value={first}
      options={[...(first === '' ? [{ value: '', name: 'First in the list' }] : []), ...nodes]}
      onChange={(initialAgent) => onChange({ ...document, initialAgent })}
    />
  );
}

interface ChoiceOptions extends FormOptions {
  /** The place of the selected node among the agents and then the steps. */
  chosen: number;
  onSelect: (at: number) => void;
}

/** Selects an agent or a step, and adds one. */
function NodeChoice({ document, problems, mayAdd, onChange, chosen, onSelect }: ChoiceOptions & { mayAdd: boolean }) {
  const invalidFields = new Set(Object.keys(problems).map((name) => name.split('.')[0]));
  const add = (type: StepType | 'agent') => {
    const next = withNewNode(document, type, chosen);
    onChange(next);
    // The new node is the last one of its list.
    onSelect((type === 'agent' ? next.agents : nodesOf(next)).length - 1);
  };
  return (
    <ul className="chips" aria-label="Agents and steps">
      {nodesOf(document).map((node, at) => (
        <li key={at}>
          <button type="button" aria-pressed={at === chosen} onClick={() => onSelect(at)}>
            <bdi>{nodeName(node)}</bdi>
            {invalidFields.has(String(at)) && <span className="bad"> is not valid</span>}
          </button>
        </li>
      ))}
      {mayAdd && (
        <>
          <li>
            <ActionButton name="Add agent" onClick={() => add('agent')} />
          </li>
          <li>
            <AddStep onAdd={add} />
          </li>
        </>
      )}
    </ul>
  );
}

/** Renders agents and steps as a graph. Drawing an edge sets a pointer, as the form below does. */
function FlowGraph({ document, onChange, chosen, onSelect }: ChoiceOptions) {
  const nodes = nodesOf(document);
  const order = reachableFrom(nodes, text(document.initialAgent) || idOf(nodes[0] ?? {}));
  const rank = new Map(order.map((id, at) => [id, at]));
  const rankOf = (node: Fields) => rank.get(idOf(node)) ?? order.length;
  return (
    <LazyGraph
      label="Graph of the agents and steps"
      nodes={nodes
        .toSorted((one, other) => rankOf(one) - rankOf(other))
        .map((node) => ({
          id: idOf(node),
          title: titleOf(node),
          detail: detailOf(node, idOf(node) === text(document.initialAgent)),
        }))}
      edges={edgesOf(nodes)}
      isFlow
      selected={idOf(nodes[chosen] ?? {})}
      onSelect={(id) => onSelect(nodes.findIndex((node) => idOf(node) === id))}
      onConnect={({ from, to }) => onChange(connected(document, from, to))}
    />
  );
}

function detailOf(node: Record<string, unknown>, isFirst: boolean): string {
  const skills = Array.isArray(node.skills) ? node.skills.length : 0;
  const isStep = node.type !== undefined;
  return [
    isFirst && (isStep ? 'first step' : 'first agent'),
    text(isStep ? node.type : node.role),
    skills > 0 && quantity(skills, 'skill'),
  ]
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
