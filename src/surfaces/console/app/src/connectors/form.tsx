import { useState } from 'react';
import { Field, TextField } from '../field.js';
import { useDraft } from '../parts.js';

/** A field of the form: its path in the API, and the authentication types that use it. */
interface FormField {
  name: string;
  label: string;
  kind: 'restful' | 'mcp';
  path: string;
  auth?: readonly string[];
  /** Whether the value is kept in memory only. The browser does not store it, and the API never returns it. */
  isSecret?: true;
}

const fields: readonly FormField[] = [
  { name: 'base_url', label: 'Base URL', kind: 'restful', path: 'config.base_url' },
  { name: 'url', label: 'Server URL (Streamable HTTP)', kind: 'mcp', path: 'url' },
  { name: 'command', label: 'Or a command that the workers allow', kind: 'mcp', path: 'command' },
  { name: 'header', label: 'Header name', kind: 'restful', path: 'config.auth.name', auth: ['header'] },
  { name: 'header', label: 'Header name', kind: 'mcp', path: 'auth.name', auth: ['header'] },
  {
    name: 'value',
    label: 'Header value',
    kind: 'restful',
    path: 'config.auth.value',
    auth: ['header'],
    isSecret: true,
  },
  { name: 'value', label: 'Header value', kind: 'mcp', path: 'auth.value', auth: ['header'], isSecret: true },
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
    none: 'None',
    header: 'Header',
    bearer: 'Bearer token',
    basic: 'User name and password',
    client_credentials: 'OAuth client credentials',
  },
  mcp: { none: 'None', header: 'Header', oauth: 'OAuth' },
} as const;

export type Kind = keyof typeof auths;

/** Keeps the texts of the form across a reload, except secrets. */
export function useConnectorForm(key: string, initial: Texts) {
  const [stored, store] = useDraft(key);
  const [secrets, setSecrets] = useState<Texts>({});
  const drafts = stored === '' ? initial : (JSON.parse(stored) as Texts);
  const kind: Kind = drafts.kind === 'mcp' ? 'mcp' : 'restful';
  const auth = drafts.auth !== undefined && drafts.auth in auths[kind] ? drafts.auth : 'none';
  const visibleFields = fields.filter((field) => field.kind === kind && (field.auth?.includes(auth) ?? true));
  const set = (name: string, text: string) => store(JSON.stringify({ ...drafts, [name]: text }));
  // An update has a `config` for every category; the creation of an MCP server does not have one.
  const nameOf = (path: string) => (kind === 'mcp' ? path.replace(/^config\./, '') : path);
  return { form: { drafts, set, secrets, setSecrets, kind, auth, visibleFields }, nameOf, clear: () => store('') };
}

type Texts = Record<string, string>;

export interface Form {
  drafts: Texts;
  set(name: string, text: string): void;
  secrets: Texts;
  setSecrets(secrets: Texts): void;
  kind: Kind;
  auth: string;
  visibleFields: readonly FormField[];
}

/** @param present the connector to update: its category cannot change, and empty secrets keep their stored values */
export function Fields({ form, present }: { form: Form; present?: { auth: string } }) {
  const { drafts, set, kind, auth, visibleFields } = form;
  return (
    <>
      {!present && (
        <label>
          {' '}
          Type{' '}
          <select value={kind} onChange={(event) => set('kind', event.target.value)}>
            <option value="restful">HTTP API</option>
            <option value="mcp">MCP server</option>
          </select>
        </label>
      )}
      <TextField label="Name" name="name" text={drafts.name ?? ''} onChange={(text) => set('name', text)} />
      {visibleFields.map((field) => !field.auth && <Input key={field.path} form={form} field={field} />)}
      <label>
        Authentication
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
          Account
          <select value={drafts.owner ?? 'person'} onChange={(event) => set('owner', event.target.value)}>
            <option value="person">Each person uses their own account</option>
            <option value="project">One account for the whole project</option>
          </select>
        </label>
      )}
      {visibleFields.map(
        (field) =>
          field.auth && <Input key={field.path} form={form} field={field} isStored={present?.auth === form.auth} />,
      )}
    </>
  );
}

interface InputOptions {
  form: Form;
  field: FormField;
  /** Whether the API has stored a value, which it does not return if it is a secret. */
  isStored?: boolean;
}

function Input({ form, field: { name, label, path, isSecret }, isStored = false }: InputOptions) {
  const { drafts, set, secrets, setSecrets } = form;
  return (
    <Field label={label} name={path} {...(isSecret && isStored && { hint: 'Leave empty to keep the stored value.' })}>
      {(control) => (
        <input
          {...control}
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

/** Returns the authentication in the format of the API, without empty fields. */
export function authOf({ drafts, secrets, auth, visibleFields }: Form): Record<string, string> {
  const authValues = visibleFields
    .filter((field) => field.auth)
    .flatMap(({ name, path, isSecret }) => {
      const value = (isSecret ? secrets[name] : drafts[name]) ?? '';
      return value === '' ? [] : [[lastOf(path), value] as const];
    });
  return {
    type: auth,
    ...Object.fromEntries<string>(authValues),
    ...(auth === 'oauth' && { owner: drafts.owner ?? 'person' }),
  };
}

/** Returns the body of an update: it removes fields that the person emptied and keeps secrets that are empty. */
export function changeOf(form: Form, config: Record<string, unknown>) {
  const { drafts, auth, visibleFields } = form;
  const present = (config.auth ?? { type: 'none' }) as Record<string, unknown>;
  const edited = new Set(
    visibleFields.filter((field) => field.auth && !field.isSecret).map(({ path }) => lastOf(path)),
  );
  // The API returns `[stored]` for a secret, and sending that value back keeps the secret.
  const kept = Object.entries(present.type === auth ? present : {}).filter(([name]) => !edited.has(name));
  const plain = visibleFields.filter((field) => !field.auth).map(({ name }) => [name, drafts[name] || null]);
  return {
    name: drafts.name ?? '',
    config: { ...Object.fromEntries(plain), auth: { ...Object.fromEntries(kept), ...authOf(form) } } as Record<
      string,
      unknown
    >,
  };
}

/** Returns the initial texts of the form for a stored connector. */
export function textsOf(kind: Kind, name: string, config: Record<string, unknown>): Texts {
  const auth = (config.auth ?? { type: 'none' }) as Record<string, unknown>;
  const texts = fields
    .filter((field) => field.kind === kind && !field.isSecret)
    .flatMap(({ name: field, path, auth: authTypes }) => {
      const value = (authTypes ? auth : config)[lastOf(path)];
      return typeof value === 'string' ? [[field, value] as const] : [];
    });
  const owner: Texts = typeof auth.owner === 'string' ? { owner: auth.owner } : {};
  return { ...Object.fromEntries(texts), ...owner, kind, name, auth: String(auth.type) };
}

const lastOf = (path: string) => path.split('.').at(-1) ?? path;
