import { FilterForm, named, sinceField, type FilterField } from '../filter-form.js';
import { states } from '../states.js';
import type { SearchParams } from '../search-params.js';
import { useChoices } from './choices.js';
import { filterIn, type RunFilter } from './filter.js';
import { timesIn } from './interval.js';
import { timeFormats, useTimeZone } from '../time-zone.js';

type Name = keyof RunFilter;

interface FilterOptions {
  filter: RunFilter;
  error: unknown;
  onChange: (filter: RunFilter) => void;
}

export function FilterBar({ filter, error, onChange }: FilterOptions) {
  const { flows, versions, starters, schedules } = useChoices(filter);
  const { whole } = timeFormats(useTimeZone());
  const times = timesIn(filter.since ?? '');
  const chosenInterval = times
    ? [{ value: filter.since ?? '', name: whole.formatRange(times.from * 1000, times.to * 1000) }]
    : [];
  const fields: FilterField<Name>[] = [
    { name: 'state', label: 'State', options: named(...states) },
    { name: 'agentflow', label: 'Agentflow', parameter: 'agentflow_id', options: flows },
    ...(filter.agentflow === undefined
      ? []
      : [{ name: 'version', label: 'Version', parameter: 'agentflow_version', options: versions } as const]),
    { name: 'starter', label: 'Started by', parameter: 'executed_by', options: starters },
    { name: 'schedule', label: 'Schedule', parameter: 'schedule_id', options: schedules },
    { ...sinceField, label: 'Created', options: [...chosenInterval, ...sinceField.options] },
    { name: 'text', label: 'Goal, agentflow or id', maxLength: 100 },
  ];
  const change = ({ version, ...next }: SearchParams<Name>) =>
    // A version belongs to one agentflow, so a new agentflow clears it.
    onChange(filterIn(next.agentflow === filter.agentflow ? { ...next, version } : next));
  return <FilterForm fields={fields} filter={filter} error={error} onChange={change} />;
}
