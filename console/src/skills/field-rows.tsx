import { CheckField, SelectField, TextField } from '../field.js';
import { ExpressionField } from '../agentflows/expression-field.js';
import { Entries } from '../agentflows/entries.js';
import { text, type Fields } from '../agentflows/document.js';
import { hasOwnValue } from './skill.js';
import styles from './skills.module.css';

/** In a step, the expression of a field is its `expression`. */
type Filler = 'model' | 'expression';

interface RowsOptions {
  label: string;
  hint?: string;
  fields: readonly Fields[];
  /** Set for fields that are sent: what fills one without a fixed value. */
  filledBy?: Filler;
  /** Whether an HTTP call sends them in different places. */
  hasPlaces?: boolean;
  /** The problem of a path such as `0.in`. */
  problemOf: (path: string) => string | undefined;
  onChange: (fields: Fields[]) => void;
}

const types = [
  { value: 'string', name: 'Text' },
  { value: 'number', name: 'Number' },
  { value: 'integer', name: 'Whole number' },
  { value: 'boolean', name: 'Yes or no' },
  { value: 'array', name: 'List' },
  { value: 'object', name: 'Object' },
  { value: 'any', name: 'Anything' },
];
const places = [
  { value: '', name: 'Automatic' },
  { value: 'path', name: 'Path' },
  { value: 'query', name: 'Query' },
  { value: 'header', name: 'Header' },
  { value: 'body', name: 'Body' },
];
const marks = [
  { value: '', name: 'None' },
  { value: 'recipient', name: 'Recipient' },
  { value: 'account', name: 'Account' },
  { value: 'amount', name: 'Amount' },
  { value: 'currency', name: 'Currency' },
];

const blank: Fields = { field_id: '', type: 'string', required: true, description: '' };

/** Edits the fields that an action sends, or those of its answer. */
export function FieldRows({ label, hint, fields, filledBy, hasPlaces, problemOf, onChange }: RowsOptions) {
  return (
    <Entries
      label={label}
      hint={hint}
      one="Field"
      count={fields.length}
      problem={undefined}
      className={styles.field}
      onAdd={() => onChange([...fields, filledBy === 'expression' ? { ...blank, expression: '' } : blank])}
      onRemove={(at) => onChange(fields.filter((_, index) => index !== at))}
    >
      {(at) => (
        <Row
          field={fields[at] ?? {}}
          filledBy={filledBy}
          hasPlaces={hasPlaces === true}
          problemOf={(name) => problemOf(name === '' ? String(at) : `${at}.${name}`)}
          onChange={(changed) => onChange(fields.map((each, index) => (index === at ? changed : each)))}
        />
      )}
    </Entries>
  );
}

interface RowOptions {
  field: Fields;
  filledBy: Filler | undefined;
  hasPlaces: boolean;
  problemOf: (name: string) => string | undefined;
  onChange: (field: Fields) => void;
}

function Row({ field, filledBy, hasPlaces, problemOf, onChange }: RowOptions) {
  const set = (name: string, value: unknown) => onChange(withFieldValue(field, name, value));
  return (
    <>
      <TextField
        label="Name"
        problem={problemOf('field_id') ?? problemOf('')}
        text={text(field.field_id)}
        onChange={(name) => set('field_id', name)}
      />
      <SelectField
        label="Type"
        problem={problemOf('type')}
        value={text(field.type) || 'string'}
        options={types}
        onChange={(type) => set('type', type)}
      />
      {hasPlaces && (
        <SelectField
          label="Place"
          problem={problemOf('in')}
          value={text(field.in)}
          options={places}
          onChange={(place) => set('in', place || undefined)}
        />
      )}
      <TextField
        label="Description"
        problem={problemOf('description')}
        text={text(field.description)}
        onChange={(description) => set('description', description)}
      />
      {filledBy && <SentRow {...{ field, filledBy, problemOf, set, onChange }} />}
      <CheckField
        label="Required"
        isChecked={field.required === true}
        onChange={(isRequired) => set('required', isRequired)}
      />
    </>
  );
}

function withFieldValue(field: Fields, name: string, value: unknown): Fields {
  const { [name]: _before, ...others } = field;
  return value === undefined ? others : { ...field, [name]: value };
}

interface SentOptions extends Pick<RowOptions, 'field' | 'problemOf' | 'onChange'> {
  filledBy: Filler;
  set: (name: string, value: unknown) => void;
}

const fixed = { value: 'fixed', name: 'A fixed value' };
const fillers = {
  model: [{ value: '', name: 'The model or the run' }, fixed],
  expression: [{ value: 'expression', name: 'An expression' }, fixed, { value: '', name: 'Nothing' }],
};

function SentRow({ field, filledBy, problemOf, set, onChange }: SentOptions) {
  const isFixed = hasOwnValue(field);
  const hasExpression = field.expression !== undefined;
  const fill = (by: string) => {
    const { value: _value, expression: _expression, ...others } = field;
    onChange(by === '' ? others : { ...others, [by === 'fixed' ? 'value' : by]: '' });
  };
  return (
    <>
      <SelectField
        label="Filled by"
        value={isFixed ? 'fixed' : hasExpression ? 'expression' : ''}
        options={fillers[filledBy]}
        onChange={fill}
      />
      {hasExpression && (
        <ExpressionField
          label="Expression"
          problem={problemOf('expression')}
          value={field.expression}
          onChange={(expression) => set('expression', expression)}
        />
      )}
      {isFixed && (
        <TextField
          label="Fixed value"
          hint="Liquid templates are allowed, such as {{ previous }}. Never enter a credential: it belongs into the connector."
          problem={problemOf('value')}
          text={typeof field.value === 'string' ? field.value : JSON.stringify(field.value)}
          onChange={(value) => set('value', value)}
        />
      )}
      <SelectField
        label="Meaning for rules and approvals"
        problem={problemOf('mark')}
        value={text(field.mark)}
        options={marks}
        onChange={(mark) => set('mark', mark || undefined)}
      />
    </>
  );
}
