import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, type Connector } from '../api.js';
import { Confirm } from '../confirm.js';
import { TextField } from '../field.js';
import { JsonField, parsed } from '../json-field.js';
import { useJsonDraft } from '../use-draft.js';
import { changeOf, Fields, textsOf, useConnectorForm } from './form.js';

interface EditOptions {
  connector: Connector;
  onClose: () => void;
}

export function EditConnector(props: EditOptions) {
  const { category } = props.connector;
  return category === 'restful' || category === 'mcp' ? (
    <EditFields {...props} kind={category} />
  ) : (
    <EditJson {...props} />
  );
}

function EditFields({ connector, kind, onClose }: EditOptions & { kind: 'restful' | 'mcp' }) {
  const { _id: id, name, config } = connector;
  const { form, nameOf, clear } = useConnectorForm(`connector.${id}`, textsOf(kind, name, config));
  const auth = (config.auth as { type?: string } | undefined)?.type ?? 'none';
  return (
    <Edit {...{ connector, onClose, nameOf }} changeOf={() => changeOf(form, config)} onDone={clear}>
      <Fields form={form} present={{ auth }} />
    </Edit>
  );
}

/** Edits a connector whose category has no form. The value `[stored]` keeps a stored secret. */
function EditJson({ connector, onClose }: EditOptions) {
  const { _id: id, config } = connector;
  const [draft, store] = useJsonDraft<{ name: string; text: string }>(`connector.${id}`);
  const { name = connector.name, text = JSON.stringify(config, null, 2) } = draft;
  const read = parsed(text);
  const change = () => {
    if ('problem' in read) throw new Error('Correct the JSON first.');
    // Null removes a field, so fields that the person deleted from the JSON are set to null.
    const removed = Object.fromEntries(Object.keys(config).map((field) => [field, null]));
    return { name, config: { ...removed, ...(read.value as object) } };
  };
  return (
    <Edit {...{ connector, onClose }} changeOf={change} onDone={() => store({})}>
      <TextField label="Name" name="name" text={name} onChange={(next) => store({ ...draft, name: next })} />
      <JsonField
        label="Configuration as JSON"
        name="config"
        rows={12}
        text={text}
        onChange={(next) => store({ ...draft, text: next })}
        problems={'problem' in read ? [read.problem] : []}
      />
    </Edit>
  );
}

interface Shell extends EditOptions {
  nameOf?: (path: string) => string;
  changeOf: () => { name: string; config: Record<string, unknown> };
  onDone: () => void;
  children: ReactNode;
}

function Edit({ connector: { _id, name }, changeOf: bodyOf, onDone, children, ...confirmProps }: Shell) {
  const queries = useQueryClient();
  const act = async () => {
    const params = { connector_id: _id };
    const saved = await call('patch', '/connectors/{projectID}/{connector_id}', { params, body: bodyOf() });
    queries.setQueryData(['connector', _id], saved);
  };
  return (
    <Confirm title={`Edit ${name}`} action="Save" act={act} onDone={onDone} {...confirmProps}>
      {children}
    </Confirm>
  );
}
