import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, isAnswer, newKey, type Connector } from '../api.js';
import { Problem, Window } from '../parts.js';
import { projectId } from '../session.js';
import { authOf, Fields, useConnectorForm, type Form } from './form.js';

export function CreateConnector({ onClose }: { onClose: () => void }) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [idempotencyKey, setKey] = useState(newKey);
  const navigate = useNavigate();
  const { form, top, clear } = useConnectorForm('connector.new', {}, error);
  const submit = async () => {
    setBusy(true);
    try {
      const create = form.kind === 'mcp' ? createMcp : createRestful;
      const made = await create(form, idempotencyKey);
      clear();
      onClose();
      await navigate({
        to: '/projects/$projectId/connectors/$connectorId',
        params: { projectId, connectorId: made._id },
      });
    } catch (failure) {
      setError(failure);
      if (isAnswer(failure)) setKey(newKey());
      setBusy(false);
    }
  };
  return (
    <Window title="Create a connector" onClose={onClose}>
      <Problem error={top} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Fields form={form} />
        <p className="soft">Secrets are encrypted and never shown again.</p>
        <p className="actions">
          <button className="primary" disabled={isBusy}>
            Create
          </button>
        </p>
      </form>
    </Window>
  );
}

function createRestful(form: Form, idempotencyKey: string): Promise<Connector> {
  const { name = '', base_url } = form.drafts;
  const config = { ...(base_url && { base_url }), auth: authOf(form) };
  const input = { params: { category: 'restful' as const }, query: { projectID: projectId }, body: { name, config } };
  return call('post', '/actions/{category}/config', input, { idempotencyKey });
}

function createMcp(form: Form, idempotencyKey: string): Promise<Connector> {
  const { name = '', url, command } = form.drafts;
  const auth = authOf(form) as unknown as { type: 'none' };
  const body = { name, auth, ...(url && { url }), ...(command && { command }) };
  return call('post', '/connectors/{projectID}/mcp', { body }, { idempotencyKey });
}
