import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call } from '../api.js';
import { states, type State } from '../states.js';
import { sinceNames, type RunFilter, type Since } from './filter.js';

/** The filters of the list. The address keeps them, so that they can be sent to somebody. */
export function FilterBar({ filter, onChange }: { filter: RunFilter; onChange: (filter: RunFilter) => void }) {
  const { data: flows } = useQuery({
    queryKey: ['agentflows'],
    queryFn: () => call('get', '/agentflow', { query: { limit: 200 } }),
    staleTime: 60_000,
  });
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
      <label>
        Agentflow
        <select value={filter.agentflow ?? ''} onChange={(event) => set('agentflow', event.target.value)}>
          <option value="">any</option>
          {filter.agentflow !== undefined && !flows?.data.some(({ _id }) => _id === filter.agentflow) && (
            <option value={filter.agentflow}>{filter.agentflow}</option>
          )}
          {flows?.data.map(({ _id, name }) => (
            <option key={_id} value={_id}>
              {name}
            </option>
          ))}
        </select>
      </label>
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
