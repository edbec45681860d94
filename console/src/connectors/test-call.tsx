import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type ConnectorTest } from '../api.js';
import { Form, TextField } from '../field.js';
import { Section } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { useSubmit } from '../use-submit.js';
import { TestAnswer } from './test-answer.js';
import formStyles from '../styles/form.module.css';

/** Sends a GET request to the connector's API with its credentials, and shows the response. */
export function TestCall({ connectorId: id }: { connectorId: string }) {
  const [path, setPath] = useDraft(`connector.${id}.test`);
  const [result, setResult] = useState<ConnectorTest>();
  const queries = useQueryClient();
  const { error, isBusy, submit } = useSubmit(async (options, body: { path: string }) => {
    setResult(undefined);
    const request = { params: { connector_id: id }, body };
    try {
      setResult(await call('post', '/connectors/{projectID}/{connector_id}/test', request, options));
    } finally {
      // The call changes the connector's usage.
      void queries.invalidateQueries({ queryKey: ['connector', id] });
    }
  });
  return (
    <Section title="Test call">
      <Form className={formStyles.filter} error={error} onSubmit={() => void submit({ path: path.trim() })}>
        <TextField
          label="Path (GET, relative to the base URL)"
          name="path"
          text={path}
          onChange={setPath}
          placeholder="/"
          maxLength={2000}
        />
        <button aria-disabled={isBusy}>{isBusy ? 'Sending…' : 'Send request'}</button>
      </Form>
      <TestAnswer result={result} />
    </Section>
  );
}
