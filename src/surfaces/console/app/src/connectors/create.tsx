import { useNavigate } from '@tanstack/react-router';
import { call, type Connector } from '../api.js';
import { Problem, Window } from '../parts.js';
import { projectId } from '../session.js';
import { useSubmit } from '../use-submit.js';
import { authOf, Fields, useConnectorForm, type Form } from './form.js';

export function CreateConnector({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { error, isBusy, submit } = useSubmit(async (options, { form, clear }: ReturnType<typeof useConnectorForm>) => {
    const create = form.kind === 'mcp' ? createMcp : createRestful;
    const { _id: connectorId } = await create(form, options);
    clear();
    onClose();
    await navigate({ to: '/projects/$projectId/connectors/$connectorId', params: { projectId, connectorId } });
  });
  const given = useConnectorForm('connector.new', {}, error);
  return (
    <Window title="Create a connector" onClose={onClose}>
      <Problem error={given.top} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit(given);
        }}
      >
        <Fields form={given.form} />
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

interface CallOptions {
  idempotencyKey: string;
}

function createRestful(form: Form, options: CallOptions): Promise<Connector> {
  const { name = '', base_url } = form.drafts;
  const config = { ...(base_url && { base_url }), auth: authOf(form) };
  const input = { params: { category: 'restful' as const }, query: { projectID: projectId }, body: { name, config } };
  return call('post', '/actions/{category}/config', input, options);
}

function createMcp(form: Form, options: CallOptions): Promise<Connector> {
  const { name = '', url, command } = form.drafts;
  const auth = authOf(form) as unknown as { type: 'none' };
  const body = { name, auth, ...(url && { url }), ...(command && { command }) };
  return call('post', '/connectors/{projectID}/mcp', { body }, options);
}
