import { useState } from 'react';
import type { Connector } from '../api.js';
import { text, type Fields } from '../agentflows/document.js';
import { SelectField } from '../field.js';
import { Changes } from '../read-only.js';
import { ActionFields } from './action-fields.js';
import { ActionTarget } from './action-target.js';
import { FieldRows } from './field-rows.js';
import { actionsOf, categoryOf, fieldsIn } from './skill.js';
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
  const category = categoryOf(action);
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
        <ActionFields
          {...{ action, connector, baseUrl, problemOf, onChange }}
          names={{
            name: 'Name',
            nameHint: 'The model knows the action by its name and description.',
            description: 'Description',
          }}
          target={<ActionTarget action={action} problemOf={problemOf} onChange={onChange} />}
          sent={
            category !== 'mcp' && (
              <FieldRows
                label="Fields that are sent"
                filledBy="model"
                fields={fieldsIn(action, 'input_schema')}
                hasPlaces={category === 'restful'}
                problemOf={(path) => problemOf(`input_schema.fields.${path}`)}
                onChange={(fields) => onChange({ ...action, input_schema: { fields } })}
              />
            )
          }
        />
        <NextAction {...options} />
        <Changes>
          <p>
            <button type="button" onClick={onRemove}>
              Remove action<span className={textStyles.hidden}> {name}</span>
            </button>
          </p>
        </Changes>
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
