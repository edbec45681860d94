import { Link } from '@tanstack/react-router';
import { categoryNames } from '../connectors/states.js';
import { SelectField, TextField } from '../field.js';
import { ConnectorLink } from '../links.js';
import { useConnectors } from '../skills/use-connectors.js';
import type { Category } from '../skills/skill.js';
import { text } from './document.js';
import textStyles from '../styles/text.module.css';

interface ConnectorFieldOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  value: unknown;
  /** The categories that can be chosen; all by default. */
  fitting?: readonly Category[] | undefined;
  onChange: (id: string | null) => void;
}

/** Chooses a connector of the project. A person who may not see them enters an id. */
export function ConnectorField({ value, fitting, onChange, ...field }: ConnectorFieldOptions) {
  const { mayRead, connectors = [] } = useConnectors();
  const change = (id: string) => onChange(id || null);
  const chosen = text(value);
  if (!mayRead) return <TextField {...field} text={chosen} onChange={change} />;
  const offered = connectors.filter(({ _id, category }) => _id === chosen || !fitting || fitting.includes(category));
  return (
    <>
      <SelectField
        {...field}
        value={chosen}
        options={[
          { value: '', name: 'None' },
          ...offered.map(({ _id, name, category }) => ({ value: _id, name: `${name} · ${categoryNames[category]}` })),
        ]}
        onChange={change}
      />
      <p className={textStyles.soft}>
        {chosen === '' ? (
          <Link to="/connectors">Connectors of this project</Link>
        ) : (
          <ConnectorLink id={chosen}>Open this connector</ConnectorLink>
        )}
      </p>
    </>
  );
}
