import { useState } from 'react';
import { ActionFields } from '../skills/action-fields.js';
import { ActionTarget } from '../skills/action-target.js';
import { FieldRows } from '../skills/field-rows.js';
import { ToolField } from '../skills/server-tools.js';
import { baseUrlOf, categoryOf, fieldsIn } from '../skills/skill.js';
import { useConnectors } from '../skills/use-connectors.js';
import { Wrong } from '../skills/wrong.js';
import { ConnectorField } from './connector-field.js';
import { isFields, text, withValueAt, type Fields } from './document.js';
import { NamedExpressions } from './entries.js';
import type { StepValueOptions } from './step-fields.js';

/** Edits the call of an `action` step. It has the same form as an action of a skill, but expressions fill its fields. */
export function ActionStepFields(options: StepValueOptions) {
  const { step, problemOf, onChange } = options;
  const { connectors } = useConnectors();
  const connector = connectors?.find(({ _id }) => _id === step.connector_id);
  const action = isFields(step.action) ? step.action : {};
  const category = categoryOf(action);
  const set = (next: Fields) => onChange({ ...step, action: next });
  const problem = (path: string) => problemOf(path === '' ? 'action' : `action.${path}`);
  const choose = (id: string | null) => {
    const next = connectors?.find(({ _id }) => _id === id)?.category ?? 'restful';
    const changed = { ...step, connector_id: id };
    // The address of an HTTP API, an operation and a tool are not the same.
    onChange(next === category ? changed : { ...changed, action: { ...action, category: next, endpoint: '' } });
  };
  return (
    <>
      <ConnectorField
        label="Connector"
        hint="It has the address of the service and the credentials. Without one, the action calls an address without credentials."
        problem={problemOf('connector_id')}
        value={step.connector_id}
        onChange={choose}
      />
      <Wrong text={problem('')} />
      <ActionFields
        {...{ action, connector, baseUrl: baseUrlOf(connector) }}
        names={{ name: 'Action name', description: 'What it does' }}
        problemOf={problem}
        onChange={set}
        target={
          category === 'mcp' && connector ? (
            <ToolField connectorId={connector._id} {...{ action, problem: problem('endpoint'), onChange: set }} />
          ) : (
            <ActionTarget action={action} problemOf={problem} onChange={set} />
          )
        }
        sent={<SentFields {...options} action={action} />}
      />
    </>
  );
}

/** The fields that are sent, each with its expression. A tool without fields of its own has those of its server. */
function SentFields({ step, action, problemOf, onChange }: StepValueOptions & { action: Fields }) {
  // The rows keep two fields whose names are equal while a person types one of them.
  const [typed, setTyped] = useState<readonly Fields[]>([]);
  const category = categoryOf(action);
  if (category === 'mcp' && fieldsIn(action, 'input_schema').length === 0)
    return (
      <NamedExpressions
        label="Inputs"
        hint="Expressions for the fields of the tool."
        one="Input"
        value={step.inputs}
        problemOf={(name) => problemOf(name === undefined ? 'inputs' : `inputs.${name}`)}
        onChange={(inputs) => onChange({ ...step, inputs })}
      />
    );
  const isCurrent = JSON.stringify(valuesOf(typed)) === JSON.stringify(storedValues(step));
  const rows = isCurrent ? typed : rowsOf(step);
  const change = (next: readonly Fields[]) => {
    setTyped(next);
    const { fields, inputs } = valuesOf(next);
    onChange({ ...withValueAt(step, 'action.input_schema.fields', fields), inputs });
  };
  return (
    <FieldRows
      label="Fields that are sent"
      filledBy="expression"
      fields={rows}
      hasPlaces={category === 'restful'}
      problemOf={(path) => problemOf(pathOf(path, rows))}
      onChange={change}
    />
  );
}

const inputsOf = ({ inputs }: Fields): Fields => (isFields(inputs) ? inputs : {});
const fieldsOf = ({ action }: Fields) => (isFields(action) ? fieldsIn(action, 'input_schema') : []);
const storedValues = (step: Fields) => ({ fields: fieldsOf(step), inputs: inputsOf(step) });

/** Each field of the action with its expression. */
function rowsOf(step: Fields): Fields[] {
  const inputs = inputsOf(step);
  const fields = fieldsOf(step);
  const withoutField = Object.keys(inputs).filter((name) => !fields.some(({ field_id }) => field_id === name));
  return [...fields, ...withoutField.map((field_id): Fields => ({ field_id, type: 'any' }))].map((field) => {
    const id = text(field.field_id);
    return Object.hasOwn(inputs, id) ? { ...field, expression: inputs[id] } : field;
  });
}

/** The fields of the action and the expressions of its step, as they are stored. */
function valuesOf(rows: readonly Fields[]): { fields: Fields[]; inputs: Fields } {
  const filled = rows.filter(({ expression }) => expression !== undefined);
  return {
    fields: rows.map(({ expression: _expression, ...field }) => field),
    inputs: Object.fromEntries(filled.map(({ field_id, expression }) => [text(field_id), expression])),
  };
}

/** Returns where the step has the problem of a path in the rows, such as `0.expression`. */
function pathOf(path: string, rows: readonly Fields[]): string {
  const [, at = '', name] = /^(\d+)(?:\.(.*))?$/.exec(path) ?? [];
  return name === 'expression' ? `inputs.${text(rows[Number(at)]?.field_id)}` : `action.input_schema.fields.${path}`;
}
