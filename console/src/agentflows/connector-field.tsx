import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import { SelectField, TextField } from '../field.js';
import { readAll } from '../read-all.js';
import { useMay } from '../session.js';
import { text } from './document.js';

interface ConnectorFieldOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  value: unknown;
  onChange: (id: string | null) => void;
}

/** Chooses a connector of the project. A person who may not see them enters an id. */
export function ConnectorField({ value, onChange, ...field }: ConnectorFieldOptions) {
  const mayRead = useMay()('get /connectors/{projectID}');
  const { data = [] } = useQuery({
    queryKey: ['connectors', 'all'],
    queryFn: () => readAll((query) => call('get', '/connectors/{projectID}', { query })),
    enabled: mayRead,
    staleTime: 60_000,
  });
  const change = (id: string) => onChange(id || null);
  if (!mayRead) return <TextField {...field} text={text(value)} onChange={change} />;
  return (
    <SelectField
      {...field}
      value={text(value)}
      options={[{ value: '', name: 'None' }, ...data.map(({ _id, name }) => ({ value: _id, name }))]}
      onChange={change}
    />
  );
}
