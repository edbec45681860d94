import { useState } from 'react';
import type { Connector } from '../api.js';
import { text, type Fields } from '../agentflows/document.js';
import { SelectField, TextField } from '../field.js';
import { ActionTarget } from './action-target.js';
import { ExampleFields } from './example-fields.js';
import { FieldRows } from './field-rows.js';
import { actionsOf, categoryOf, fieldsIn } from './skill.js';
import { TestAction } from './test-action.js';
import { Wrong } from './wrong.js';
import textStyles from '../styles/text.module.css';
import styles from './skills.module.css';

interface ActionOptions {
  skill: Fields;
  action: Fields;
  connector: Connector | undefined;
  /** The address of the connector. */
  baseUrl: string | undefined;
  /** The problem of a path in the action, or of the action itself for an empty path. */
  problemOf: (path: string) => string | undefined;
  onChange: (action: Fields) => void;
  onRemove: () => void;
}

/** Edits an action of a skill. One that is new, wrong or alone is open. */
export function ActionForm(options: ActionOptions) {
  const { skill, action, connector, baseUrl, problemOf, onChange, onRemove } = options;
  const [isOpenFirst] = useState(text(action.name) === '' || actionsOf(skill).length === 1);
  const set = (name: string, value: unknown) => onChange({ ...action, [name]: value });
  const category = categoryOf(action);
  const inputs = fieldsIn(action, 'input_schema');
  const outputs = fieldsIn(action, 'output_schema');
  const name = text(action.name) || 'New action';
  return (
    <details className={styles.action} open={isOpenFirst}>
      <summary>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        <span className={textStyles.soft}>{callText(action)}</span>
      </summary>
      <div role="group" aria-label={`Action ${name}`}>
        <Wrong text={problemOf('')} />
        <TextField
          label="Name"
          hint="The model knows the action by its name and description."
          problem={problemOf('name')}
          text={text(action.name)}
          onChange={(next) => set('name', next)}
        />
        <TextField
          label="Description"
          rows={2}
          problem={problemOf('description')}
          text={text(action.description)}
          onChange={(next) => set('description', next)}
        />
        <ActionTarget action={action} problemOf={problemOf} onChange={onChange} />
        {category !== 'mcp' && (
          <FieldRows
            label="Fields that are sent"
            category={category}
            fields={inputs}
            hasPlaces={category === 'restful'}
            problemOf={(path) => problemOf(`input_schema.fields.${path}`)}
            onChange={(fields) => set('input_schema', { fields })}
          />
        )}
        <TestAction {...{ action, connector, baseUrl }} onAnswer={(fields) => set('output_schema', { fields })} />
        <FieldRows
          label="Fields of the answer"
          hint="Without any, the answer is not checked."
          fields={outputs}
          problemOf={(path) => problemOf(`output_schema.fields.${path}`)}
          onChange={(fields) => set('output_schema', { fields })}
        />
        <ExampleFields onFields={(fields) => set('output_schema', { fields })} />
        <TextField
          label="Line for approvals"
          hint="What people read when they approve the call, as a Liquid template over the fields. Empty: made from the name and the fields."
          problem={problemOf('summary')}
          text={text(action.summary)}
          onChange={(next) => set('summary', next || undefined)}
        />
        <NextAction {...options} />
        <p>
          <button type="button" onClick={onRemove}>
            Remove action<span className={textStyles.hidden}> {name}</span>
          </button>
        </p>
      </div>
    </details>
  );
}

/** Chooses the action that follows without a model. */
function NextAction({ skill, action, problemOf, onChange }: ActionOptions) {
  const others = actionsOf(skill).filter((other) => other !== action);
  if (others.length === 0) return null;
  return (
    <SelectField
      label="If it runs before the model, continue with"
      problem={problemOf('next_action_id')}
      value={text(action.next_action_id)}
      options={[
        { value: '', name: 'No other action' },
        ...others.map(({ _id, name }) => ({ value: text(_id), name: text(name) || text(_id) })),
      ]}
      onChange={(id) => onChange({ ...action, next_action_id: id || null, is_terminal: id === '' })}
    />
  );
}

function callText(action: Fields): string {
  const category = categoryOf(action);
  return category === 'restful' ? `${text(action.method)} ${text(action.endpoint)}` : text(action.endpoint);
}
