import type { components } from '@client/openapi.js';
import { call } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { curl } from '../curl.js';
import { Field, TextField } from '../field.js';
import { List } from '../list.js';
import { Empty, Page } from '../parts.js';
import { useMay } from '../session.js';
import { column, timeColumn, type Column } from '../table.js';
import { useJsonDraft } from '../use-draft.js';
import { useNames } from '../use-names.js';
import buttonStyles from '../styles/button.module.css';
import styles from './tags.module.css';

type Tag = components['schemas']['Tag'];

export function Tags() {
  const nameOf = useNames();
  return (
    <Page title="Tags">
      <p>Names that you can choose when you upload files.</p>
      <List
        name="Tags"
        counted={['tag', 'tags']}
        queryKey={['tags']}
        load={(query) => call('get', '/tag', { query })}
        columns={columnsOf(nameOf)}
        keyOf={({ _id }) => _id}
        empty={
          <Empty command={curl('tag', { name: 'urgent', color: '#d73a4a' })}>
            This project has no tags yet. Create one here, or with this command:
          </Empty>
        }
        tools={useMay()('post /tag') && <NewTag />}
      />
    </Page>
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<Tag>[] {
  return [
    column('Name', { width: 'minmax(12rem, 3fr)', onNarrow: 'main' }, ({ name, color }) => (
      <>
        {color !== null && (
          <svg className={styles.color} viewBox="0 0 12 12" aria-hidden="true">
            <circle cx="6" cy="6" r="5.5" fill={color} />
          </svg>
        )}
        <bdi>{name}</bdi>
      </>
    )),
    column('Created by', { width: 'minmax(8rem, 1fr)', onNarrow: 'hidden' }, ({ created_by }) => (
      <bdi>{nameOf(created_by)}</bdi>
    )),
    timeColumn('Created', ({ created_at }) => created_at),
    column('Action', { width: '7rem' }, ({ _id: id, name }) => (
      <ConfirmButton
        operation="delete /tag/{id}"
        button="Delete…"
        buttonName={`Delete ${name}…`}
        className={buttonStyles.plain}
        title={`Delete ${name}?`}
        action="Delete tag"
        isFinal
        act={() => call('delete', '/tag/{id}', { params: { id } })}
        invalidates={[['tags']]}
      >
        <p>Nobody can choose the tag any more. Files that have it keep it.</p>
      </ConfirmButton>
    )),
  ];
}

function NewTag() {
  const [draft, store] = useJsonDraft<{ name: string; color: string }>('tags.new');
  const { name = '', color = '#2456c5' } = draft;
  return (
    <ConfirmButton
      button="New tag…"
      className={buttonStyles.primary}
      title="New tag"
      action="Create tag"
      act={(options) => call('post', '/tag', { body: { name, color } }, options)}
      invalidates={[['tags']]}
      onDone={() => store({})}
    >
      <TextField
        label="Name"
        name="name"
        text={name}
        maxLength={100}
        autoFocus
        onChange={(next) => store({ ...draft, name: next })}
      />
      <Field label="Color" name="color">
        {(control) => (
          <input
            {...control}
            type="color"
            value={color}
            onChange={(event) => store({ ...draft, color: event.target.value })}
          />
        )}
      </Field>
    </ConfirmButton>
  );
}
