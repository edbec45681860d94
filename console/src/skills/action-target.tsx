import { useQuery } from '@tanstack/react-query';
import { operations } from '@service/domain/connectors/rules/named-operations.js';
import { call } from '../api.js';
import { text, type Fields } from '../agentflows/document.js';
import { SelectField, TextField } from '../field.js';
import { readAll } from '../read-all.js';
import { bodyTypes } from './import/imported.js';
import { categoryOf } from './skill.js';
import textStyles from '../styles/text.module.css';
import styles from './skills.module.css';

interface TargetOptions {
  action: Fields;
  problemOf: (path: string) => string | undefined;
  onChange: (action: Fields) => void;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value }));
const bodyNames = {
  'application/json': 'JSON',
  'application/x-www-form-urlencoded': 'Form',
  'multipart/form-data': 'Form with files',
};

/** Edits what an action calls, by its category. */
export function ActionTarget({ action, problemOf, onChange }: TargetOptions) {
  const set = (changes: Fields) => onChange({ ...action, ...changes });
  const endpoint = text(action.endpoint);
  const category = categoryOf(action);
  switch (category) {
    case 'restful':
      return <HttpTarget {...{ action, problemOf, onChange }} />;
    case 'agentflow':
      return (
        <FlowTarget endpoint={endpoint} problem={problemOf('endpoint')} onChange={(id) => set({ endpoint: id })} />
      );
    case 'mail':
      return <OwnFields category="mail" operation="send" />;
    case 'mcp':
      return <p className={textStyles.soft}>Tool of the MCP server: {endpoint}</p>;
    default:
      return (
        <>
          <SelectField
            label="Operation"
            problem={problemOf('endpoint')}
            value={endpoint}
            options={[
              ...(endpoint === '' ? [{ value: '', name: 'Select an operation' }] : []),
              ...Object.keys(operations[category]).map((value) => ({ value, name: value.replaceAll('_', ' ') })),
            ]}
            onChange={(name) => set({ endpoint: name, method: operations[category][name]?.method ?? action.method })}
          />
          <OwnFields category={category} operation={endpoint} />
        </>
      );
  }
}

function HttpTarget({ action, problemOf, onChange }: TargetOptions) {
  const set = (name: string, value: unknown) => onChange({ ...action, [name]: value });
  const method = text(action.method) || 'POST';
  return (
    <>
      <div className={styles.target}>
        <SelectField
          label="Method"
          problem={problemOf('method')}
          value={method}
          options={methods}
          onChange={(next) => set('method', next)}
        />
        <TextField
          label="Address"
          hint="A URL, or a path below the address of the connector such as /orders/{{ id }}."
          problem={problemOf('endpoint')}
          text={text(action.endpoint)}
          onChange={(next) => set('endpoint', next)}
        />
      </div>
      {method !== 'GET' && (
        <SelectField
          label="Format of the body"
          problem={problemOf('content_type')}
          value={text(action.content_type) || 'application/json'}
          options={bodyTypes.map((value) => ({ value, name: bodyNames[value] }))}
          onChange={(next) => set('content_type', next)}
        />
      )}
    </>
  );
}

interface FlowOptions {
  endpoint: string;
  problem: string | undefined;
  onChange: (id: string) => void;
}

function FlowTarget({ endpoint, problem, onChange }: FlowOptions) {
  const { data = [] } = useQuery({
    queryKey: ['agentflows', 'all'],
    queryFn: () => readAll((query) => call('get', '/agentflow', { query })),
    staleTime: 60_000,
  });
  return (
    <SelectField
      label="Agentflow"
      hint="Its fields are its goal and its inputs."
      problem={problem}
      value={endpoint}
      options={[
        ...(endpoint === '' ? [{ value: '', name: 'Select an agentflow' }] : []),
        ...data.map(({ _id, name }) => ({ value: _id, name })),
      ]}
      onChange={onChange}
    />
  );
}

/** Says which fields an operation has without being listed. */
function OwnFields({ category, operation }: { category: keyof typeof operations; operation: string }) {
  const fields = Object.hasOwn(operations[category], operation) ? operations[category][operation]?.fields : undefined;
  if (!fields) return null;
  return (
    <p className={textStyles.soft}>
      It has the fields{' '}
      {fields.map(({ field_id, required }) => `${field_id}${required ? ' (required)' : ''}`).join(', ')}. List one below
      only to describe it or to give it a fixed value.
    </p>
  );
}
