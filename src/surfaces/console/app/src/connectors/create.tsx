import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, isAnswer, newKey, type Connector } from '../api.js';
import { Field } from '../field.js';
import { Problem, useDrafts, Window } from '../parts.js';
import { refusalByField, type RefusalByField } from '../refusal-by-field.js';
import { projectId } from '../session.js';

/** The fields of the form: where the API names each of them, and which ways to sign in ask for it. */
interface FormField {
  name: string;
  label: string;
  kind: 'restful' | 'mcp';
  path: string;
  auth?: readonly string[];
  /** Stays in this window only: it is not stored in the browser, and the API never answers it. */
  isSecret?: true;
}

const fields: readonly FormField[] = [
  { name: 'base_url', label: 'Base URL', kind: 'restful', path: 'config.base_url' },
  { name: 'url', label: 'URL of the server (Streamable HTTP)', kind: 'mcp', path: 'url' },
  { name: 'command', label: 'Or the name of a command that the workers allow', kind: 'mcp', path: 'command' },
  { name: 'header', label: 'Name of the header', kind: 'restful', path: 'config.auth.name', auth: ['header'] },
  { name: 'header', label: 'Name of the header', kind: 'mcp', path: 'auth.name', auth: ['header'] },
  { name: 'value', label: 'Value', kind: 'restful', path: 'config.auth.value', auth: ['header'], isSecret: true },
  { name: 'value', label: 'Value', kind: 'mcp', path: 'auth.value', auth: ['header'], isSecret: true },
  { name: 'token', label: 'Token', kind: 'restful', path: 'config.auth.token', auth: ['bearer'], isSecret: true },
  { name: 'username', label: 'User name', kind: 'restful', path: 'config.auth.username', auth: ['basic'] },
  {
    name: 'password',
    label: 'Password',
    kind: 'restful',
    path: 'config.auth.password',
    auth: ['basic'],
    isSecret: true,
  },
  {
    name: 'token_url',
    label: 'Token URL',
    kind: 'restful',
    path: 'config.auth.token_url',
    auth: ['client_credentials'],
  },
  {
    name: 'client_id',
    label: 'Client id',
    kind: 'restful',
    path: 'config.auth.client_id',
    auth: ['client_credentials'],
  },
  {
    ...{ name: 'client_secret', label: 'Client secret', kind: 'restful', path: 'config.auth.client_secret' },
    auth: ['client_credentials'],
    isSecret: true,
  },
  {
    name: 'scope',
    label: 'Scope (optional)',
    kind: 'restful',
    path: 'config.auth.scope',
    auth: ['client_credentials'],
  },
  { name: 'scope', label: 'Scope (optional)', kind: 'mcp', path: 'auth.scope', auth: ['oauth'] },
];

const auths = {
  restful: {
    none: 'nothing',
    header: 'a header',
    bearer: 'a bearer token',
    basic: 'a password',
    client_credentials: 'OAuth client credentials',
  },
  mcp: { none: 'nothing', header: 'a header', oauth: 'OAuth' },
} as const;

type Kind = keyof typeof auths;

export function CreateConnector({ onClose }: { onClose: () => void }) {
  const { drafts, set, clear } = useDrafts('connector.new');
  const [secrets, setSecrets] = useState<Record<string, string>>({});
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [idempotencyKey, setKey] = useState(newKey);
  const navigate = useNavigate();
  const kind: Kind = drafts.kind === 'mcp' ? 'mcp' : 'restful';
  const auth = drafts.auth !== undefined && drafts.auth in auths[kind] ? drafts.auth : 'none';
  const shown = fields.filter((field) => field.kind === kind && (field.auth?.includes(auth) ?? true));
  const paths = new Set(['name', ...shown.map(({ path }) => path)]);
  const { fields: problems, top } = refusalByField(error, (path) => (paths.has(path) ? path : undefined));
  const submit = async () => {
    setBusy(true);
    try {
      const given = { drafts, secrets, auth, shown };
      const made = await (kind === 'mcp' ? createMcp(given, idempotencyKey) : createRestful(given, idempotencyKey));
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
        <Fields form={{ drafts, set, secrets, setSecrets, problems, kind, auth, shown }} />
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

interface Form {
  drafts: Record<string, string>;
  set(name: string, text: string): void;
  secrets: Record<string, string>;
  setSecrets(secrets: Record<string, string>): void;
  problems: RefusalByField['fields'];
  kind: Kind;
  auth: string;
  shown: readonly FormField[];
}

function Fields({ form }: { form: Form }) {
  const { drafts, set, problems, kind, auth, shown } = form;
  return (
    <>
      <label>
        Kind
        <select value={kind} onChange={(event) => set('kind', event.target.value)}>
          <option value="restful">HTTP API</option>
          <option value="mcp">MCP server</option>
        </select>
      </label>
      <Field label="Name" problem={problems.name}>
        {(own) => <input {...own} value={drafts.name ?? ''} onChange={(event) => set('name', event.target.value)} />}
      </Field>
      {shown.map((field) => !field.auth && <Input key={field.path} form={form} field={field} />)}
      <label>
        It asks for
        <select value={auth} onChange={(event) => set('auth', event.target.value)}>
          {Object.entries(auths[kind]).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {auth === 'oauth' && (
        <label>
          Whose account
          <select value={drafts.owner ?? 'person'} onChange={(event) => set('owner', event.target.value)}>
            <option value="person">each person authorizes their own</option>
            <option value="project">one for the whole project</option>
          </select>
        </label>
      )}
      {shown.map((field) => field.auth && <Input key={field.path} form={form} field={field} />)}
    </>
  );
}

function Input({ form, field: { name, label, path, isSecret } }: { form: Form; field: FormField }) {
  const { drafts, set, secrets, setSecrets, problems } = form;
  return (
    <Field label={label} problem={problems[path]}>
      {(own) => (
        <input
          {...own}
          type={isSecret ? 'password' : 'text'}
          autoComplete={isSecret ? 'new-password' : 'off'}
          value={(isSecret ? secrets[name] : drafts[name]) ?? ''}
          onChange={({ target: { value } }) =>
            isSecret ? setSecrets({ ...secrets, [name]: value }) : set(name, value)
          }
        />
      )}
    </Field>
  );
}

interface Given {
  drafts: Record<string, string>;
  secrets: Record<string, string>;
  auth: string;
  shown: readonly FormField[];
}

/** The way to sign in as the API takes it. Fields that were left empty are not sent. */
function authOf({ drafts, secrets, auth, shown }: Given): Record<string, string> {
  const own = shown
    .filter((field) => field.auth)
    .flatMap(({ name, path, isSecret }) => {
      const value = (isSecret ? secrets[name] : drafts[name]) ?? '';
      return value === '' ? [] : [[path.split('.').at(-1) ?? name, value] as const];
    });
  return {
    type: auth,
    ...Object.fromEntries<string>(own),
    ...(auth === 'oauth' && { owner: drafts.owner ?? 'person' }),
  };
}

function createRestful(given: Given, idempotencyKey: string): Promise<Connector> {
  const { name = '', base_url } = given.drafts;
  const config = { ...(base_url !== undefined && { base_url }), auth: authOf(given) };
  const input = { params: { category: 'restful' as const }, query: { projectID: projectId }, body: { name, config } };
  return call('post', '/actions/{category}/config', input, { idempotencyKey });
}

function createMcp(given: Given, idempotencyKey: string): Promise<Connector> {
  const { name = '', url, command } = given.drafts;
  const auth = authOf(given) as unknown as { type: 'none' };
  const body = { name, auth, ...(url !== undefined && { url }), ...(command !== undefined && { command }) };
  return call('post', '/connectors/{projectID}/mcp', { body }, { idempotencyKey });
}
