import { useQueryClient } from '@tanstack/react-query';
import { call, type Connector } from '../api.js';
import { Field } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { Problem, useDraft, Window } from '../parts.js';
import { refusalByField } from '../refusal-by-field.js';
import { useSubmit } from '../use-submit.js';
import { changeOf, Fields, textsOf, useConnectorForm } from './form.js';

interface EditOptions {
  connector: Connector;
  onClose: () => void;
}

/** Changes the name and the configuration of a connector. */
export function EditConnector(given: EditOptions) {
  const { category } = given.connector;
  return category === 'restful' || category === 'mcp' ? (
    <EditFields {...given} kind={category} />
  ) : (
    <EditJson {...given} />
  );
}

function EditFields({ connector, kind, onClose }: EditOptions & { kind: 'restful' | 'mcp' }) {
  const { _id: id, name, config } = connector;
  const { error, isBusy, submit } = useChange(id, onClose);
  const { form, top, clear } = useConnectorForm(`connector.${id}`, textsOf(kind, name, config), error);
  const auth = (config.auth as { type?: string } | undefined)?.type ?? 'none';
  return (
    <Edit
      name={name}
      error={top}
      isBusy={isBusy}
      onClose={onClose}
      onSubmit={() => submit(changeOf(form, config), clear)}
    >
      <Fields form={form} present={{ auth }} />
    </Edit>
  );
}

/** The categories without a form. `[stored]` in the JSON keeps a secret. */
function EditJson({ connector, onClose }: EditOptions) {
  const { _id: id, config } = connector;
  const { error, isBusy, submit } = useChange(id, onClose);
  const [name, setName] = useDraft(`connector.${id}.name`);
  const [text, setText] = useDraft(`connector.${id}.config`);
  const shownName = name || connector.name;
  const shownText = text || JSON.stringify(config, null, 2);
  const read = parsed(shownText);
  const { fields, top } = refusalByField(error, (path) => (path === 'name' ? path : undefined));
  const save = async () => {
    if ('problem' in read) return;
    // What was taken out of the JSON is removed.
    const removed = Object.fromEntries(Object.keys(config).map((field) => [field, null]));
    await submit({ name: shownName, config: { ...removed, ...(read.value as object) } }, () => {
      setName('');
      setText('');
    });
  };
  return (
    <Edit name={connector.name} error={top} isBusy={isBusy} onClose={onClose} onSubmit={save}>
      <Field label="Name" problem={fields.name}>
        {(own) => <input {...own} value={shownName} onChange={(event) => setName(event.target.value)} />}
      </Field>
      <JsonField
        label="Configuration as JSON"
        rows={12}
        text={shownText}
        onChange={setText}
        problems={'problem' in read ? [read.problem] : []}
      />
    </Edit>
  );
}

interface Shell {
  name: string;
  error: unknown;
  isBusy: boolean;
  onClose: () => void;
  onSubmit: () => Promise<void>;
  children: React.ReactNode;
}

function Edit({ name, error, isBusy, onClose, onSubmit, children }: Shell) {
  return (
    <Window title={`Edit ${name}`} onClose={onClose}>
      <Problem error={error} />
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void onSubmit();
        }}
      >
        {children}
        <p className="actions">
          <button className="primary" disabled={isBusy}>
            Save
          </button>
        </p>
      </form>
    </Window>
  );
}

interface Change {
  name: string;
  config: Record<string, unknown>;
}

function useChange(id: string, onClose: () => void) {
  const queries = useQueryClient();
  return useSubmit(async (_options, body: Change, forget: () => void) => {
    const params = { connector_id: id };
    const saved = await call('patch', '/connectors/{projectID}/{connector_id}', { params, body });
    queries.setQueryData(['connector', id], saved);
    forget();
    onClose();
  });
}
