import type { ReactNode } from 'react';
import type { Connector } from '../api.js';
import { text, type Fields } from '../agentflows/document.js';
import { TextField } from '../field.js';
import { Changes } from '../read-only.js';
import { ExampleFields } from './example-fields.js';
import { FieldRows } from './field-rows.js';
import { fieldsIn } from './skill.js';
import { TestAction } from './test-action.js';

interface ActionFieldsOptions {
  action: Fields;
  connector: Connector | undefined;
  /** The address of the connector. */
  baseUrl: string | undefined;
  /** The labels of the name and the description. */
  names: { name: string; nameHint?: string; description: string };
  /** What the action calls. */
  target: ReactNode;
  /** The fields that are sent. */
  sent: ReactNode;
  problemOf: (path: string) => string | undefined;
  onChange: (action: Fields) => void;
}

/** Edits what an action of a skill and that of a step have in common. */
export function ActionFields(options: ActionFieldsOptions) {
  const { action, connector, baseUrl, names, target, sent, problemOf, onChange } = options;
  const set = (name: string, value: unknown) => onChange({ ...action, [name]: value });
  return (
    <>
      <TextField
        label={names.name}
        hint={names.nameHint}
        problem={problemOf('name')}
        text={text(action.name)}
        onChange={(next) => set('name', next)}
      />
      <TextField
        label={names.description}
        rows={2}
        problem={problemOf('description')}
        text={text(action.description)}
        onChange={(next) => set('description', next)}
      />
      {target}
      {sent}
      <TestAction {...{ action, connector, baseUrl }} onAnswer={(fields) => set('output_schema', { fields })} />
      <FieldRows
        label="Fields of the answer"
        hint="Without any, the answer is not checked."
        fields={fieldsIn(action, 'output_schema')}
        problemOf={(path) => problemOf(`output_schema.fields.${path}`)}
        onChange={(fields) => set('output_schema', { fields })}
      />
      <Changes>
        <ExampleFields onFields={(fields) => set('output_schema', { fields })} />
      </Changes>
      <TextField
        label="Line for approvals"
        hint="What people read when they approve the call, as a Liquid template over the fields. Empty: made from the name and the fields."
        problem={problemOf('summary')}
        text={text(action.summary)}
        onChange={(next) => set('summary', next || undefined)}
      />
    </>
  );
}
