import { SelectField, TextField } from '../field.js';
import { ActionButton } from '../parts.js';
import { hasValue, isList, operators, type Comparison } from './condition.js';
import type { Fact } from './facts.js';
import styles from './comparisons.module.css';

interface ComparisonsOptions {
  /** What the button adds, such as `Add a condition`. */
  addName: string;
  facts: readonly Fact[];
  rows: readonly Comparison[];
  onChange: (rows: readonly Comparison[]) => void;
}

/** Rows of a fact, an operator and a value. All of them must be true. */
export function Comparisons({ addName, facts, rows, onChange }: ComparisonsOptions) {
  const change = (at: number, row: Comparison) => onChange(rows.map((each, index) => (index === at ? row : each)));
  return (
    <>
      {rows.map((row, at) => (
        <Row
          key={at}
          row={row}
          facts={facts}
          onChange={(next) => change(at, next)}
          onRemove={() => onChange(rows.filter((_, index) => index !== at))}
        />
      ))}
      <p>
        <ActionButton
          name={addName}
          isDisabled={facts.length === 0}
          onClick={() => facts[0] && onChange([...rows, newRow(facts[0])])}
        />
      </p>
    </>
  );
}

const operatorsOf = ({ type }: Fact) => operators.filter((operator) => operator.type === type);

const emptyValues = { String: '', Set: '', Boolean: '', Long: '0', Decimal: '0.00' } as const;

function newRow(fact: Fact): Comparison {
  const value = fact.choices?.[0]?.value ?? emptyValues[fact.type];
  return { path: fact.path, operator: operatorsOf(fact)[0]?.id ?? '', value };
}

interface RowOptions {
  row: Comparison;
  facts: readonly Fact[];
  onChange: (row: Comparison) => void;
  onRemove: () => void;
}

function Row({ row, facts, onChange, onRemove }: RowOptions) {
  const fact = facts.find(({ path }) => path === row.path);
  const operator = operators.find(({ id }) => id === row.operator);
  if (!fact || !operator) return null;
  const value = { text: row.value, onChange: (next: string) => onChange({ ...row, value: next }) };
  return (
    <div className={styles.row} role="group" aria-label={fact.name}>
      <SelectField
        label="Fact"
        value={row.path}
        options={facts.map(({ path, name }) => ({ value: path, name }))}
        onChange={(path) => onChange(newRow(facts.find((each) => each.path === path) ?? fact))}
      />
      <SelectField
        label="Comparison"
        value={row.operator}
        options={operatorsOf(fact).map(({ id, name }) => ({ value: id, name }))}
        onChange={(id) => onChange({ ...row, operator: id })}
      />
      {hasValue(operator) && fact.choices && !isList(operator) && (
        <SelectField label="Value" value={row.value} options={fact.choices} onChange={value.onChange} />
      )}
      {hasValue(operator) && (!fact.choices || isList(operator)) && (
        <TextField label={isList(operator) ? 'Values, separated by commas' : 'Value'} {...value} />
      )}
      <ActionButton name="Remove" aria-label={`Remove the condition on ${fact.name}`} onClick={onRemove} />
    </div>
  );
}
