import { useEffect, useState } from 'react';
import { states, type State } from '../states.js';
import { useChoices, type Option } from './choices.js';
import { sinceNames, type RunFilter, type Since } from './filter.js';

/** The filters of the list. The address keeps them, so that they can be sent to somebody. */
export function FilterBar({ filter, onChange }: { filter: RunFilter; onChange: (filter: RunFilter) => void }) {
  const { flows, versions, starters, schedules } = useChoices(filter);
  const set = <K extends keyof RunFilter>(name: K, value: RunFilter[K] | '') => {
    const { [name]: _before, ...others } = filter;
    onChange(value === '' ? others : { ...others, [name]: value });
  };
  return (
    <form className="filter" role="search" aria-label="Filter the list" onSubmit={(event) => event.preventDefault()}>
      <label>
        State
        <select value={filter.state ?? ''} onChange={(event) => set('state', event.target.value as State | '')}>
          <option value="">any</option>
          {states.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
      </label>
      <Choice
        label="Agentflow"
        value={filter.agentflow}
        options={flows}
        onChange={(agentflow) => {
          const { agentflow: _flow, version: _version, ...others } = filter;
          onChange(agentflow === '' ? others : { ...others, agentflow });
        }}
      />
      {filter.agentflow !== undefined && (
        <Choice
          label="Version"
          value={filter.version}
          options={versions}
          onChange={(version) => set('version', version)}
        />
      )}
      <Choice
        label="Started by"
        value={filter.starter}
        options={starters}
        onChange={(starter) => set('starter', starter)}
      />
      <Choice
        label="Schedule"
        value={filter.schedule}
        options={schedules}
        onChange={(schedule) => set('schedule', schedule)}
      />
      <label>
        Made in
        <select value={filter.since ?? ''} onChange={(event) => set('since', event.target.value as Since | '')}>
          <option value="">any time</option>
          {Object.entries(sinceNames).map(([since, name]) => (
            <option key={since} value={since}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <TextFilter
        label="Goal, agentflow or id"
        text={filter.text ?? ''}
        maxLength={100}
        onChange={(text) => set('text', text)}
      />
      {Object.keys(filter).length > 0 && (
        <button type="button" onClick={() => onChange({})}>
          Show all
        </button>
      )}
    </form>
  );
}

interface ChoiceOptions {
  label: string;
  value: string | undefined;
  options: readonly Option[];
  onChange: (value: string) => void;
}

/** A value that is not among the options, for example of a deleted agentflow, is an option too. */
function Choice({ label, value = '', options, onChange }: ChoiceOptions) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">any</option>
        {value !== '' && !options.some((option) => option.value === value) && <option>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Waits until the person has stopped typing. */
export function TextFilter(given: {
  label: string;
  text: string;
  maxLength?: number;
  onChange: (text: string) => void;
}) {
  const { label, text, maxLength = 1000, onChange } = given;
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  useEffect(() => {
    if (typed.trim() === text) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), 350);
    return () => clearTimeout(timer);
  }, [typed, text, onChange]);
  return (
    <label className="wide">
      {label}
      <input type="search" value={typed} maxLength={maxLength} onChange={(event) => setTyped(event.target.value)} />
    </label>
  );
}
