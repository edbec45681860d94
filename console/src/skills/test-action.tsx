import { useState } from 'react';
import { call, type Connector, type ConnectorTest } from '../api.js';
import { isFields, text, type Fields } from '../agentflows/document.js';
import { TestAnswer } from '../connectors/test-answer.js';
import { TextField } from '../field.js';
import { parsed } from '../json-field.js';
import { ActionButton, Problem } from '../parts.js';
import { useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';
import { fieldsOfExample } from './import/field-types.js';
import { categoryOf, queryFields, testPath, variablesIn } from './skill.js';
import textStyles from '../styles/text.module.css';

interface TestOptions {
  action: Fields;
  connector: Connector | undefined;
  baseUrl: string | undefined;
  onAnswer: (fields: Fields[]) => void;
}

/** Offers the test call of the connector for an action that reads. Other calls are tried in a test run, where rules can hold them. */
export function TestAction(options: TestOptions) {
  const { action, connector } = options;
  const may = useMay();
  if (categoryOf(action) !== 'restful' || !may('post /connectors/{projectID}/{connector_id}/test')) return null;
  const isPossible = action.method === 'GET' && connector?.category === 'restful';
  return (
    <details>
      <summary>Test call</summary>
      {isPossible && connector ? (
        <TestForm {...options} connector={connector} />
      ) : (
        <p className={textStyles.soft}>
          A test call needs the method GET and a connector to an HTTP API. Try other actions in a test run of the
          agentflow.
        </p>
      )}
    </details>
  );
}

function TestForm({ action, connector, baseUrl, onAnswer }: TestOptions & { connector: Connector }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [result, setResult] = useState<ConnectorTest>();
  const { error, isBusy, submit } = useSubmit(async (options, path: string) => {
    setResult(undefined);
    const request = { params: { connector_id: connector._id }, body: { path } };
    setResult(await call('post', '/connectors/{projectID}/{connector_id}/test', request, options));
  });
  const fixed = queryFields(action).filter((field) => typeof field.value === 'string');
  const known = { ...Object.fromEntries(fixed.map(({ field_id, value }) => [text(field_id), text(value)])), ...values };
  const names = [...variablesIn(text(action.endpoint)), ...queryFields(action).map(({ field_id }) => text(field_id))];
  const path = testPath(action, baseUrl, known);
  if (path === undefined)
    return (
      <p className={textStyles.soft}>
        The address must be below that of the connector, and have no templates other than {'{{ field }}'}.
      </p>
    );
  const answer = result ? parsed(result.excerpt) : undefined;
  const example = answer && 'value' in answer && isFields(answer.value) ? answer.value : undefined;
  return (
    <>
      {[...new Set(names)].map((name) => (
        <TextField
          key={name}
          label={`Test value of ${name}`}
          text={known[name] ?? ''}
          onChange={(typed) => setValues({ ...values, [name]: typed })}
        />
      ))}
      <p className={textStyles.soft}>
        Sends <code>GET {path}</code> with the credentials of the connector, if the rules permit it. Headers of fields
        are not sent.
      </p>
      <Problem error={error} />
      <p>
        <ActionButton name={isBusy ? 'Sending…' : 'Send test call'} onClick={() => void submit(path)} />
      </p>
      <TestAnswer result={result} />
      {example && (
        <p>
          <ActionButton name="Use the fields of this answer" onClick={() => onAnswer(fieldsOfExample(example))} />
        </p>
      )}
    </>
  );
}
