import { useState } from 'react';
import { text, type Fields } from '../agentflows/document.js';
import { ConnectorField } from '../agentflows/connector-field.js';
import { SelectField, TextField } from '../field.js';
import { ActionButton, Window } from '../parts.js';
import { Changes, useIsReadOnly } from '../read-only.js';
import { ReadOnlyNote } from '../agentflows/read-only-note.js';
import { ActionForm } from './action-form.js';
import { ImportActions } from './import-actions.js';
import { Wrong } from './wrong.js';
import {
  actionsOf,
  baseUrlOf,
  fittingActions,
  fittingConnectors,
  newAction,
  withImported,
  withoutAction,
  type Category,
} from './skill.js';
import { ServerTools } from './server-tools.js';
import { useConnectors } from './use-connectors.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';

export interface SkillOptions {
  skill: Fields;
  /** The problem of a path in the skill, or of the skill itself for an empty path. */
  problemOf: (path: string) => string | undefined;
  onChange: (skill: Fields) => void;
}

/** Edits a skill and its actions. Each change is one of the agentflow at once, which is saved with it. */
export function SkillWindow({ onClose, ...options }: SkillOptions & { onClose: () => void }) {
  const { skill, problemOf, onChange } = options;
  const { connectors } = useConnectors();
  const [isImporting, setImporting] = useState(false);
  const isReadOnly = useIsReadOnly();
  const connector = connectors?.find(({ _id }) => _id === skill.connector_id);
  const actions = actionsOf(skill);
  const baseUrl = baseUrlOf(connector);
  return (
    <Window title={`Skill ${text(skill.name)}`} isDrawer onClose={onClose}>
      {isReadOnly ? (
        <ReadOnlyNote />
      ) : (
        <p className={textStyles.soft}>What you change here is saved with the agentflow.</p>
      )}
      <Wrong text={problemOf('')} />
      <TextField
        label="Name of the skill"
        problem={problemOf('name')}
        text={text(skill.name)}
        onChange={(name) => onChange({ ...skill, name })}
      />
      <TextField
        label="Description of the skill"
        problem={problemOf('description')}
        text={text(skill.description)}
        onChange={(description) => onChange({ ...skill, description })}
      />
      <ConnectorField
        label="Connector"
        hint="It has the address of the service and the credentials. Without one, actions call addresses without credentials."
        problem={problemOf('connector_id')}
        value={skill.connector_id}
        fitting={fittingConnectors(actions)}
        onChange={(id) =>
          onChange({
            ...skill,
            connector_id: id,
            connector_name: connectors?.find(({ _id }) => _id === id)?.name ?? '',
          })
        }
      />
      {connector?.category === 'mcp' && <ServerTools connectorId={connector._id} skill={skill} onChange={onChange} />}
      {actions.map((action, at) => (
        <ActionForm
          key={text(action._id) || at}
          {...{ skill, action, connector, baseUrl }}
          problemOf={(path) => problemOf(path === '' ? `actions.${at}` : `actions.${at}.${path}`)}
          onChange={(next) => onChange({ ...skill, actions: actions.map((each) => (each === action ? next : each)) })}
          onRemove={() => onChange(withoutAction(skill, action))}
        />
      ))}
      <Changes>
        <AddActions
          offered={fittingActions(connector)}
          onAdd={(category) => onChange({ ...skill, actions: [...actions, newAction(skill, category)] })}
          onImport={() => setImporting(true)}
        />
      </Changes>
      {actions.length > 0 && <FirstAction {...options} />}
      <p className={controlStyles.actions}>
        <ActionButton name="Done" className={buttonStyles.primary} onClick={onClose} />
      </p>
      {isImporting && (
        <ImportActions
          baseUrl={baseUrl}
          onImport={(imported) => onChange(imported.reduce((next, each) => withImported(next, each, baseUrl), skill))}
          onClose={() => setImporting(false)}
        />
      )}
    </Window>
  );
}

interface AddOptions {
  offered: readonly Category[];
  onAdd: (category: Category) => void;
  onImport: () => void;
}

function AddActions({ offered, onAdd, onImport }: AddOptions) {
  return (
    <p className={controlStyles.actions}>
      {offered
        .filter((category) => category !== 'mcp')
        .map((category) => (
          <ActionButton
            key={category}
            name={category === 'agentflow' ? 'Add an agentflow' : 'Add action'}
            onClick={() => onAdd(category)}
          />
        ))}
      {offered.includes('restful') && <ActionButton name="Import actions…" onClick={onImport} />}
    </p>
  );
}

/** Chooses whether actions run before the model begins. */
function FirstAction({ skill, problemOf, onChange }: SkillOptions) {
  return (
    <SelectField
      label="Before the first turn of the model"
      hint="The model can call all actions later on. An action that runs before gets its values from the inputs of the run."
      problem={problemOf('initial_action_id')}
      value={text(skill.initial_action_id)}
      options={[
        { value: '', name: 'No action runs' },
        ...actionsOf(skill).map(({ _id, name }) => ({ value: text(_id), name: text(name) || text(_id) })),
      ]}
      onChange={(id) => onChange({ ...skill, initial_action_id: id || null })}
    />
  );
}
