import { useNavigate } from '@tanstack/react-router';
import { call, type Connector } from '../api.js';
import { Confirm } from '../confirm.js';
import { projectId } from '../session.js';
import { authOf, Fields, useConnectorForm, type Form } from './form.js';

export function CreateConnector({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { form, nameOf, clear } = useConnectorForm('connector.new', {});
  return (
    <Confirm
      title="New connector"
      action="Create connector"
      act={(options) => (form.kind === 'mcp' ? createMcp : createRestful)(form, options)}
      nameOf={nameOf}
      onDone={({ _id: connectorId }) => {
        clear();
        void navigate({ to: '/connectors/$connectorId', params: { connectorId } });
      }}
      onClose={onClose}
    >
      <Fields form={form} />
      <p className="soft">Secrets are encrypted and never shown again.</p>
    </Confirm>
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
