import { useState } from 'react';
import { TextField, SelectField } from '../field.js';
import { useJsonDraft } from '../use-draft.js';

/** A field of the form, and the authentication type that uses it. */
interface FormField {
  name: string;
  label: string;
  kind: Kind;
  auth?: string;
  /** The field of the API, if its name differs. */
  field?: string;
  /** Whether the value is kept in memory only. The browser does not store it, and the API never returns it. */
  isSecret?: true;
  /** The field that this one belongs to. If a person empties that one, a stored value of this one is removed as well. */
  of?: string;
}

const headerOf = (kind: Kind): readonly FormField[] => [
  { name: 'header', label: 'Header name', kind, auth: 'header', field: 'name' },
  { name: 'value', label: 'Header value', kind, auth: 'header', isSecret: true },
];
const basic = { kind: 'restful', auth: 'basic' } as const;
const clientCredentials = { kind: 'restful', auth: 'client_credentials' } as const;
const oauth = { kind: 'mcp', auth: 'oauth' } as const;
const fields: readonly FormField[] = [
  { name: 'base_url', label: 'Base URL', kind: 'restful' },
  { name: 'url', label: 'Server URL (Streamable HTTP)', kind: 'mcp' },
  { name: 'command', label: 'Or a command that the workers allow', kind: 'mcp' },
  ...headerOf('restful'),
  ...headerOf('mcp'),
  { name: 'token', label: 'Token', kind: 'restful', auth: 'bearer', isSecret: true },
  { name: 'username', label: 'User name', ...basic },
  { name: 'password', label: 'Password', ...basic, isSecret: true },
  { name: 'token_url', label: 'Token URL', ...clientCredentials },
  { name: 'client_id', label: 'Client id', ...clientCredentials },
  { name: 'client_secret', label: 'Client secret', ...clientCredentials, isSecret: true },
  { name: 'scope', label: 'Scope (optional)', ...clientCredentials },
  { name: 'scope', label: 'Scope (optional)', ...oauth },
  { name: 'client_id', label: 'Id of a registered client (optional)', ...oauth },
  {
    name: 'client_secret',
    label: 'Secret of the registered client (optional)',
    ...oauth,
    isSecret: true,
    of: 'client_id',
  },
  { name: 'issuer', label: 'Authorization server of the registered client (optional)', ...oauth },
];

/** Returns the field in the `config` or the `auth` of the API. */
const apiFieldOf = ({ name, field = name }: FormField) => field;

const pathOf = (field: FormField) =>
  `${field.kind === 'restful' ? 'config.' : ''}${field.auth ? 'auth.' : ''}${apiFieldOf(field)}`;

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

type Kind = keyof typeof auths;

/** Keeps the texts of the form across a reload, except secrets. */
export function useConnectorForm(key: string, initial: Texts) {
  // Only changed texts are kept, so that an update does not revert changes by others.
  const [changed, store] = useJsonDraft<Texts>(key);
  const [secrets, setSecrets] = useState<Texts>({});
  const drafts = { ...initial, ...changed } as Texts;
  const kind: Kind = drafts.kind === 'mcp' ? 'mcp' : 'restful';
  const auth = drafts.auth !== undefined && drafts.auth in auths[kind] ? drafts.auth : 'none';
  const visibleFields = fields.filter((field) => field.kind === kind && (field.auth ?? auth) === auth);
  const set = (name: string, text: string) => store({ ...changed, [name]: text });
  // An update has a `config` for every category; the creation of an MCP server does not have one.
  const nameOf = (path: string) => (kind === 'mcp' ? path.replace(/^config\./, '') : path);
  return { form: { drafts, set, secrets, setSecrets, kind, auth, visibleFields }, nameOf, clear: () => store({}) };
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
      {!present && <SelectField label="Type" value={kind} options={kinds} onChange={(value) => set('kind', value)} />}
      <TextField label="Name" name="name" text={drafts.name ?? ''} onChange={(text) => set('name', text)} />
      {visibleFields.map((field) => !field.auth && <Input key={pathOf(field)} form={form} field={field} />)}
      <SelectField
        label="Authentication"
        value={auth}
        options={Object.entries(auths[kind]).map(([value, name]) => ({ value, name }))}
        onChange={(value) => set('auth', value)}
      />
      {auth === 'oauth' && (
        <SelectField
          label="Account"
          value={drafts.owner ?? 'person'}
          options={owners}
          onChange={(value) => set('owner', value)}
        />
      )}
      {visibleFields.map(
        (field) =>
          field.auth && <Input key={pathOf(field)} form={form} field={field} isStored={present?.auth === form.auth} />,
      )}
    </>
  );
}

const kinds = [
  { value: 'restful', name: 'HTTP API' },
  { value: 'mcp', name: 'MCP server' },
];
const owners = [
  { value: 'person', name: 'Each person uses their own account' },
  { value: 'project', name: 'One account for the whole project' },
];

interface InputOptions {
  form: Form;
  field: FormField;
  /** Whether the API has stored a value, which it does not return if it is a secret. */
  isStored?: boolean;
}

function Input({ form, field, isStored = false }: InputOptions) {
  const { name, label, isSecret } = field;
  const { drafts, set, secrets, setSecrets } = form;
  return (
    <TextField
      label={label}
      name={pathOf(field)}
      hint={isSecret && isStored ? 'Leave empty to keep the stored value.' : undefined}
      type={isSecret ? 'password' : 'text'}
      autoComplete={isSecret ? 'new-password' : 'off'}
      text={(isSecret ? secrets[name] : drafts[name]) ?? ''}
      onChange={(text) => (isSecret ? setSecrets({ ...secrets, [name]: text }) : set(name, text))}
    />
  );
}

/** Returns the authentication in the format of the API, without empty fields. */
export function authOf({ drafts, secrets, auth, visibleFields }: Form): Record<string, string> {
  const authValues = visibleFields
    .filter((field) => field.auth)
    .flatMap((field) => {
      const value = (field.isSecret ? secrets : drafts)[field.name] ?? '';
      return value === '' ? [] : [[apiFieldOf(field), value] as const];
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
  const edited = new Set(visibleFields.filter((field) => field.auth && !field.isSecret).map(apiFieldOf));
  // The API returns `[stored]` for a secret, and sending that value back keeps the secret.
  const removed = new Set(visibleFields.filter(({ of }) => of !== undefined && !drafts[of]).map(apiFieldOf));
  const kept = Object.entries(present.type === auth ? present : {}).filter(
    ([name]) => !edited.has(name) && !removed.has(name),
  );
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
    .flatMap((field) => {
      const value = (field.auth ? auth : config)[apiFieldOf(field)];
      return typeof value === 'string' ? [[field.name, value] as const] : [];
    });
  const owner: Texts = typeof auth.owner === 'string' ? { owner: auth.owner } : {};
  return { ...Object.fromEntries(texts), ...owner, kind, name, auth: String(auth.type) };
}
