import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { isFields, skillOf, text, type Fields } from '../agentflows/document.js';
import { SelectField } from '../field.js';
import { ActionButton, Problem } from '../parts.js';
import { Changes, useIsReadOnly } from '../read-only.js';
import { readAll } from '../read-all.js';
import { actionsOf, newSkill } from './skill.js';
import { SkillWindow } from './skill-window.js';
import { Wrong } from './wrong.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';

interface SkillsOptions {
  value: unknown;
  /** The problem of a path within the list, or of the list itself for an empty path. */
  problemOf: (path: string) => string | undefined;
  /** The paths that have problems. */
  wrong: readonly string[];
  onChange: (value: Fields[]) => void;
}

/** Lists the skills with their actions, edits them in a window, and adds skills of the project. */
export function Skills({ value, problemOf, wrong, onChange }: SkillsOptions) {
  const isReadOnly = useIsReadOnly();
  const [openId, setOpenId] = useState<string>();
  const skills = (Array.isArray(value) ? value : []).filter(isFields);
  const openAt = skills.findIndex(({ _id }) => _id === openId);
  const open = skills[openAt];
  return (
    <div role="group" aria-label="Skills and actions">
      <p>
        <strong>Skills and actions</strong>
      </p>
      <Wrong text={problemOf('')} />
      {skills.length === 0 && (
        <p className={textStyles.soft}>No skills. A skill gives the agent actions of one service.</p>
      )}
      <ul className={listStyles.rows}>
        {skills.map((skill, at) => (
          <li key={text(skill._id) || at}>
            <bdi>{text(skill.name) || 'New skill'}</bdi> <span className={textStyles.soft}>{actionsText(skill)}</span>{' '}
            <button type="button" className={buttonStyles.small} onClick={() => setOpenId(text(skill._id))}>
              {isReadOnly ? 'Show' : 'Edit…'}
              <span className={textStyles.hidden}> the skill {text(skill.name)}</span>
            </button>{' '}
            <Changes>
              <button
                type="button"
                className={buttonStyles.small}
                onClick={() => onChange(skills.filter((other) => other !== skill))}
              >
                Remove<span className={textStyles.hidden}> the skill {text(skill.name)}</span>
              </button>
            </Changes>
            {wrong.some((path) => `${path}.`.startsWith(`${at}.`)) && (
              <p className={textStyles.bad} role="alert">
                Some values of this skill are not valid. Edit it to see them.
              </p>
            )}
          </li>
        ))}
      </ul>
      <Changes>
        <AddSkill skills={skills} onAdd={(skill) => onChange([...skills, skill])} onOpen={setOpenId} />
      </Changes>
      {open && (
        <SkillWindow
          skill={open}
          problemOf={(path) => problemOf(path === '' ? String(openAt) : `${openAt}.${path}`)}
          onChange={(skill) => onChange(skills.map((each) => (each === open ? skill : each)))}
          onClose={() => setOpenId(undefined)}
        />
      )}
    </div>
  );
}

interface AddOptions {
  skills: readonly Fields[];
  onAdd: (skill: Fields) => void;
  onOpen: (id: string) => void;
}

/** Adds a new skill, or a copy of a skill of the project. */
function AddSkill({ skills, onAdd, onOpen }: AddOptions) {
  const { data, error } = useQuery({
    queryKey: ['skills'],
    queryFn: () => readAll((query) => call('get', '/skill', { query })),
    staleTime: 60_000,
  });
  const addable = data?.filter(({ _id }) => !skills.some((skill) => skill._id === _id)) ?? [];
  return (
    <>
      <p className={controlStyles.actions}>
        <ActionButton
          name="New skill…"
          onClick={() => {
            const skill = newSkill(skills);
            onAdd(skill);
            onOpen(text(skill._id));
          }}
        />
      </p>
      <Problem error={error} />
      {addable.length > 0 && (
        <SelectField
          label="Add skill"
          hint="Copies a skill of the project."
          value=""
          options={[{ value: '', name: 'Select a skill' }, ...addable.map(({ _id, name }) => ({ value: _id, name }))]}
          onChange={(id) => addable.filter((skill) => skill._id === id).forEach((skill) => onAdd(skillOf(skill)))}
        />
      )}
    </>
  );
}

function actionsText(skill: Fields): string {
  const names = actionsOf(skill).map(({ name }) => text(name) || 'new action');
  return names.length === 0 ? 'no actions' : names.join(', ');
}
