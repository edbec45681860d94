import { useState } from 'react';
import { Entries } from '../agentflows/entries.js';
import { CheckField, SelectField, TextField } from '../field.js';
import { ActionButton } from '../parts.js';
import { quantity } from '../quantity.js';
import type { Named, NamedType } from './definition.js';
import textStyles from '../styles/text.module.css';
import styles from '../skills/skills.module.css';

interface ListOptions {
  kind: 'Entity type' | 'Relationship type';
  types: readonly NamedType[];
  /** The entity types that a relationship can connect. */
  entityNames?: readonly string[];
  onChange: (types: NamedType[]) => void;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Edits the types of entities or of relationships. */
export function TypeList({ kind, types, entityNames, onChange }: ListOptions) {
  return (
    <>
      {types.length === 0 && <p className={textStyles.soft}>None.</p>}
      {types.map((type, at) => (
        <TypeForm
          key={at}
          {...{ kind, type, entityNames }}
          onChange={(changed) => onChange(types.map((each, index) => (index === at ? changed : each)))}
          onRemove={() => onChange(types.filter((_, index) => index !== at))}
        />
      ))}
      <p>
        <ActionButton
          name={`Add ${kind.toLowerCase()}`}
          onClick={() => onChange([...types, { name: '', value: {}, properties: [] }])}
        />
      </p>
    </>
  );
}

interface FormOptions extends Pick<ListOptions, 'kind' | 'entityNames'> {
  type: NamedType;
  onChange: (type: NamedType) => void;
  onRemove: () => void;
}

/** One that is new is open. */
function TypeForm({ kind, type, entityNames, onChange, onRemove }: FormOptions) {
  const [isOpenFirst] = useState(type.name === '');
  const { name, value, properties } = type;
  const personal = properties.filter((property) => property.value.personal === true).length;
  const set = (field: string, next: unknown) => onChange({ ...type, value: withField(value, field, next) });
  return (
    <details className={styles.action} open={isOpenFirst}>
      <summary>
        <strong>
          <bdi>{name || `New ${kind.toLowerCase()}`}</bdi>
        </strong>{' '}
        <span className={textStyles.soft}>
          {quantity(properties.length, 'property', 'properties')}
          {personal > 0 && `, ${personal} personal`}
        </span>
      </summary>
      <div role="group" aria-label={`${kind} ${name}`}>
        <TextField label="Name" text={name} onChange={(next) => onChange({ ...type, name: next })} />
        <TextField
          label="Description"
          text={text(value.description)}
          onChange={(next) => set('description', next || undefined)}
        />
        {entityNames && (
          <>
            <Ends label="From" names={entityNames} value={value.from} onChange={(next) => set('from', next)} />
            <Ends label="To" names={entityNames} value={value.to} onChange={(next) => set('to', next)} />
          </>
        )}
        <Properties properties={properties} onChange={(next) => onChange({ ...type, properties: next })} />
        <p>
          <CheckField
            label="Accept other properties too"
            isChecked={value.open === true}
            onChange={(isOpen) => set('open', isOpen)}
          />
        </p>
        <p>
          <button type="button" onClick={onRemove}>
            Remove<span className={textStyles.hidden}> {name}</span>
          </button>
        </p>
      </div>
    </details>
  );
}

function withField(value: Named['value'], field: string, next: unknown): Named['value'] {
  const { [field]: _before, ...others } = value;
  return next === undefined ? others : { ...others, [field]: next };
}

interface EndsOptions {
  label: 'From' | 'To';
  names: readonly string[];
  value: unknown;
  onChange: (names: string[] | undefined) => void;
}

/** Chooses the types at one end of a relationship; without any, all of them are allowed. */
function Ends({ label, names, value, onChange }: EndsOptions) {
  const chosen = Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
  const toggle = (name: string) => {
    const next = chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name];
    onChange(next.length === 0 ? undefined : next);
  };
  return (
    <div role="group" aria-label={label}>
      <p>
        <strong>{label}</strong> <span className={textStyles.soft}>None chosen: every entity type.</span>
      </p>
      <p>
        {[...new Set([...names, ...chosen])]
          .filter((name) => name !== '')
          .map((name) => (
            <span key={name}>
              <CheckField
                label={<bdi>{name}</bdi>}
                isChecked={chosen.includes(name)}
                onChange={() => toggle(name)}
              />{' '}
            </span>
          ))}
      </p>
    </div>
  );
}

const types = [
  { value: 'any', name: 'Anything' },
  { value: 'string', name: 'Text' },
  { value: 'number', name: 'Number' },
  { value: 'integer', name: 'Whole number' },
  { value: 'boolean', name: 'Yes or no' },
  { value: 'date', name: 'Date' },
  { value: 'datetime', name: 'Date and time' },
  { value: 'array', name: 'List' },
  { value: 'object', name: 'Object' },
];
const counts = [
  { value: '', name: 'Not said' },
  { value: 'single_valued', name: 'One: a new value replaces it' },
  { value: 'multi_valued', name: 'Several at the same time' },
];

function Properties({ properties, onChange }: { properties: readonly Named[]; onChange: (next: Named[]) => void }) {
  const change = (at: number, next: Named) => onChange(properties.map((each, index) => (index === at ? next : each)));
  return (
    <Entries
      label="Properties"
      one="Property"
      count={properties.length}
      problem={undefined}
      className={styles.field}
      onAdd={() => onChange([...properties, { name: '', value: { type: 'string' } }])}
      onRemove={(at) => onChange(properties.filter((_, index) => index !== at))}
    >
      {(at) => {
        const property = properties[at] ?? { name: '', value: {} };
        const { value } = property;
        const set = (field: string, next: unknown) => change(at, { ...property, value: withField(value, field, next) });
        return (
          <>
            <TextField label="Name" text={property.name} onChange={(name) => change(at, { ...property, name })} />
            <SelectField
              label="Type"
              value={text(value.type) || 'any'}
              options={types}
              onChange={(type) => set('type', type)}
            />
            <TextField
              label="Description"
              text={text(value.description)}
              onChange={(next) => set('description', next || undefined)}
            />
            <SelectField
              label="Values"
              value={counts.find(({ value: field }) => value[field] === true)?.value ?? ''}
              options={counts}
              onChange={(field) => {
                const { single_valued: _single, multi_valued: _multi, ...others } = value;
                change(at, { ...property, value: field === '' ? others : { ...others, [field]: true } });
              }}
            />
            <CheckField
              label="Required"
              isChecked={value.required === true}
              onChange={(isRequired) => set('required', isRequired)}
            />
            <CheckField
              label="Personal: stored, but never returned"
              isChecked={value.personal === true}
              onChange={(isPersonal) => set('personal', isPersonal)}
            />
          </>
        );
      }}
    </Entries>
  );
}
