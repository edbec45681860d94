import { ActionButton } from '../parts.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { quantity } from '../quantity.js';
import { Changes, useIsReadOnly } from '../read-only.js';
import { edgesOf, reachableFrom } from '../flow/pointers.js';
import { AddStep } from './add-step.js';
import { CopyAndPaste, type ChoiceOptions } from './copy-and-paste.js';
import { SchemaField } from './schema-field.js';
import { AgentForm, type FormOptions } from './agent-form.js';
import { ConcurrencyFields } from './concurrency-fields.js';
import { idOf, isFields, nodeName, nodesOf, text, titleOf, withValueAt, type Fields } from './document.js';
import { connected, withNewNode } from './nodes.js';
import type { StepType } from './step-fields.js';
import { StepForm } from './step-form.js';
import { useSelectedNode, type Editor } from './use-editor.js';
import textStyles from '../styles/text.module.css';
import controlStyles from '../styles/controls.module.css';
import styles from './editor.module.css';

/** The graph, with the form of the chosen agent or step beside it. */
export function FieldsView(props: FormOptions) {
  const { at, select } = useSelectedNode(props.document);
  const choice = { ...props, chosen: at, onSelect: select };
  return (
    <>
      <NameFields {...props} />
      <div className={styles.sides}>
        <CopyAndPaste {...choice}>
          <FlowGraph {...choice} />
          <NodeChoice {...choice} />
        </CopyAndPaste>
        {at < props.document.agents.length ? <AgentForm {...props} at={at} /> : <StepForm {...props} at={at} />}
      </div>
      <FlowFields {...props} />
    </>
  );
}

function NameFields({ document, problems, onChange }: FormOptions) {
  const set = (name: string) => (value: unknown) => onChange({ ...document, [name]: value });
  return (
    <div className={styles.names}>
      <TextField label="Name" problem={problems.name} text={text(document.name)} onChange={set('name')} />
      <TextField
        label="Description"
        problem={problems.description}
        rows={2}
        text={text(document.description)}
        onChange={set('description')}
      />
    </div>
  );
}

function FlowFields(props: FormOptions) {
  const { document, problems, onChange } = props;
  const set = (name: string) => (value: unknown) => onChange({ ...document, [name]: value });
  return (
    <fieldset>
      <legend>Agentflow</legend>
      <FirstAgent {...props} />
      <CheckField label="Active (runs can start)" isChecked={document.isActive !== false} onChange={set('isActive')} />
      <CheckField
        label="A tool of MCP clients (the release in production)"
        isChecked={document.expose_as_tool === true}
        onChange={set('expose_as_tool')}
      />
      <SchemaField
        label="Inputs of a run"
        hint="The fields that a run needs. Without any, a run takes all inputs."
        problem={problems.input_schema}
        value={document.input_schema}
        onChange={set('input_schema')}
      />
      <SchemaField
        label="Result of a run"
        hint="The fields of the output. Without any, it can be everything."
        problem={problems.output_schema}
        value={document.output_schema}
        onChange={set('output_schema')}
      />
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

/** Selects an agent or a step, and adds one. */
function NodeChoice({ document, problems, onChange, chosen, onSelect }: ChoiceOptions) {
  const invalid = invalidNodes(problems);
  const add = (type: StepType | 'agent') => {
    const next = withNewNode(document, type, chosen);
    onChange(next);
    // The new node is the last one of its list.
    onSelect((type === 'agent' ? next.agents : nodesOf(next)).length - 1);
  };
  return (
    <ul className={controlStyles.chips} aria-label="Agents and steps">
      {nodesOf(document).map((node, at) => (
        <li key={at}>
          <button type="button" aria-pressed={at === chosen} onClick={() => onSelect(at)}>
            <bdi>{nodeName(node)}</bdi>
            {invalid.has(String(at)) && <span className={textStyles.bad}> is not valid</span>}
          </button>
        </li>
      ))}
      <Changes>
        <li>
          <ActionButton name="Add agent" onClick={() => add('agent')} />
        </li>
        <li>
          <AddStep onAdd={add} />
        </li>
      </Changes>
    </ul>
  );
}

/** The places of the nodes that have a problem. */
const invalidNodes = (problems: FormOptions['problems']) =>
  new Set(Object.keys(problems).map((name) => name.split('.')[0]));

/** Renders agents and steps as a graph. Drawing an edge sets a pointer, as the form below does. */
function FlowGraph({ document, problems, onChange, chosen, onSelect }: ChoiceOptions) {
  const isReadOnly = useIsReadOnly();
  const nodes = nodesOf(document);
  const invalid = invalidNodes(problems);
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
          detail: detailOf(node, {
            isFirst: idOf(node) === text(document.initialAgent),
            isInvalid: invalid.has(String(nodes.indexOf(node))),
          }),
        }))}
      edges={edgesOf(nodes)}
      isFlow
      selected={idOf(nodes[chosen] ?? {})}
      onSelect={(id) => onSelect(nodes.findIndex((node) => idOf(node) === id))}
      {...(!isReadOnly && { onConnect: ({ from, to }) => onChange(connected(document, from, to)) })}
    />
  );
}

function detailOf(node: Fields, { isFirst, isInvalid }: { isFirst: boolean; isInvalid: boolean }): string {
  const skills = Array.isArray(node.skills) ? node.skills.length : 0;
  const isStep = node.type !== undefined;
  return [
    isInvalid && 'not valid',
    isFirst && (isStep ? 'first step' : 'first agent'),
    text(isStep ? node.type : node.role),
    skills > 0 && quantity(skills, 'skill'),
  ]
    .filter(Boolean)
    .join(', ');
}

/** Edits the whole document, including fields that the form does not have. */
export function JsonView({ editor }: { editor: Editor }) {
  const read = parsed(editor.text);
  const problem = 'problem' in read ? read.problem : editor.textProblem && { message: editor.textProblem };
  return (
    <JsonField
      label="Agentflow as JSON"
      rows={28}
      text={editor.text}
      onChange={editor.setText}
      problems={problem ? [problem] : []}
    />
  );
}
