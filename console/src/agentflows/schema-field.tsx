import { useState } from 'react';
import { CheckField, SelectField, TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { ActionButton } from '../parts.js';
import { Changes, useIsReadOnly } from '../read-only.js';
import { isFields, text, type Fields } from './document.js';
import { choicesOf, rowsOf, typeNames, withKeyword, withRows, withType, type SchemaRow } from './schema-rows.js';
import { Lines } from './lines.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import styles from './schema.module.css';

interface SchemaOptions {
  label: string;
  hint?: string | undefined;
  problem: string | undefined;
  /** A JSON Schema; undefined or null if there is none. */
  value: unknown;
  /** Whether there is always a schema, also without fields. */
  isRequired?: boolean;
  onChange: (schema: Fields | null) => void;
}

/** Edits the JSON Schema of an object as a list of fields, or as JSON. */
export function SchemaField({ label, hint, problem, value, isRequired = false, onChange }: SchemaOptions) {
  const [isJson, setJson] = useState(false);
  const verb = useIsReadOnly() ? 'Show' : 'Edit';
  const rows = rowsOf(value);
  const change = (next: readonly SchemaRow[]) =>
    onChange(next.length === 0 && !isRequired ? null : withRows(value, next));
  return (
    <div role="group" aria-label={label} className={styles.schema}>
      <p className={styles.head}>
        <strong>{label}</strong> {hint !== undefined && <span className={textStyles.soft}>{hint}</span>}
        {rows && (
          <ActionButton
            name={isJson ? `${verb} as fields` : `${verb} as JSON`}
            aria-label={`${label}: ${verb.toLowerCase()} as ${isJson ? 'fields' : 'JSON'}`}
            className={buttonStyles.small}
            onClick={() => setJson(!isJson)}
          />
        )}
      </p>
      {problem !== undefined && (
        <p className={textStyles.bad} role="alert">
          {label} {problem}
        </p>
      )}
      {isJson || !rows ? (
        <SchemaJson label={label} value={value} onChange={onChange} />
      ) : (
        <Rows value={value} rows={rows} onChange={change} />
      )}
    </div>
  );
}

function SchemaJson({ label, value, onChange }: Pick<SchemaOptions, 'label' | 'value' | 'onChange'>) {
  const current = isFields(value) ? JSON.stringify(value, null, 2) : '';
  // What the person types while it is not a schema yet.
  const [typed, setTyped] = useState<{ text: string; over: string }>();
  const shown = typed?.over === current ? typed.text : current;
  const problem = problemOf(shown);
  return (
    <JsonField
      label={`${label} as JSON Schema`}
      rows={10}
      text={shown}
      problems={problem === undefined ? [] : [{ message: problem }]}
      onChange={(next) => {
        const read = next.trim() === '' ? { value: null } : parsed(next);
        const isSchema = 'value' in read && (read.value === null || isFields(read.value));
        const schema = isSchema ? (read.value as Fields | null) : undefined;
        setTyped({ text: next, over: schema === undefined ? current : schema ? JSON.stringify(schema, null, 2) : '' });
        if (schema !== undefined) onChange(schema);
      }}
    />
  );
}

/** Until the text is a schema, it has no effect. */
function problemOf(shown: string): string | undefined {
  if (shown.trim() === '') return undefined;
  const read = parsed(shown);
  if ('problem' in read) return read.problem.message;
  return isFields(read.value) ? undefined : 'the schema must be an object';
}

interface RowsOptions {
  value: unknown;
  rows: readonly SchemaRow[];
  onChange: (rows: readonly SchemaRow[]) => void;
}

function Rows({ value, rows: stored, onChange }: RowsOptions) {
  // The rows keep two fields whose names are equal while a person types one of them.
  const [typed, setTyped] = useState<readonly SchemaRow[]>([]);
  const isCurrent = typed.length > 0 && JSON.stringify(withRows(value, typed)) === JSON.stringify(value);
  const rows = isCurrent ? typed : stored;
  const change = (next: readonly SchemaRow[]) => {
    setTyped(next);
    onChange(next);
  };
  const isRepeated = (name: string, at: number) => rows.findIndex((other) => other.name === name) !== at;
  return (
    <>
      {rows.map((row, at) => (
        <Row
          key={at}
          row={row}
          number={at + 1}
          problem={isRepeated(row.name, at) ? 'must be unique' : undefined}
          onChange={(changed) => change(rows.map((each, index) => (index === at ? changed : each)))}
          onRemove={() => change(rows.filter((_, index) => index !== at))}
        />
      ))}
      <Changes>
        <p>
          <ActionButton
            name="Add field"
            onClick={() => change([...rows, { name: freeName(rows), isRequired: true, schema: { type: 'string' } }])}
          />
        </p>
      </Changes>
    </>
  );
}

function freeName(rows: readonly SchemaRow[]): string {
  let number = rows.length + 1;
  while (rows.some(({ name }) => name === `field_${number}`)) number += 1;
  return `field_${number}`;
}

interface RowOptions {
  row: SchemaRow;
  number: number;
  problem: string | undefined;
  onChange: (row: SchemaRow) => void;
  onRemove: () => void;
}

function Row({ row, number, problem, onChange, onRemove }: RowOptions) {
  const { schema } = row;
  const type = typeof schema.type === 'string' && schema.type in typeNames ? schema.type : '';
  const choices = type === 'string' ? choicesOf(schema) : undefined;
  const set = (name: string, value: unknown) => onChange({ ...row, schema: withKeyword(schema, name, value) });
  return (
    <div role="group" aria-label={`Field ${number}`} className={styles.row}>
      <TextField label="Name" problem={problem} text={row.name} onChange={(name) => onChange({ ...row, name })} />
      <SelectField
        label="Type"
        value={type}
        options={[
          ...(type === '' ? [{ value: '', name: 'As in the JSON' }] : []),
          ...Object.entries(typeNames).map(([each, name]) => ({ value: each, name })),
        ]}
        onChange={(next) => onChange({ ...row, schema: withType(schema, next) })}
      />
      <TextField
        label="Description"
        text={text(schema.description)}
        onChange={(description) => set('description', description || undefined)}
      />
      {choices && (
        <Lines
          label="Allowed values"
          hint="One per line. Empty: every text."
          problem={undefined}
          value={choices}
          onChange={(lines) => set('enum', Array.isArray(lines) && lines.length > 0 ? lines : undefined)}
        />
      )}
      <p className={styles.end}>
        <CheckField
          label="Required"
          isChecked={row.isRequired}
          onChange={(isRequired) => onChange({ ...row, isRequired })}
        />
        <Changes>
          <button type="button" className={buttonStyles.small} onClick={onRemove}>
            Remove<span className={textStyles.hidden}> field {number}</span>
          </button>
        </Changes>
      </p>
    </div>
  );
}
