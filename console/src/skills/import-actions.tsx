import { useState } from 'react';
import { CheckField, Field, TextField } from '../field.js';
import { ActionButton, Window } from '../parts.js';
import { quantity } from '../quantity.js';
import { belowBase } from './skill.js';
import { NotReadable, type Imported, type ImportedAction } from './import/imported.js';
import { maxImportedLength } from './import/limits.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';
import buttonStyles from '../styles/button.module.css';
import styles from './skills.module.css';

interface ImportOptions {
  /** The address of the connector of the skill. */
  baseUrl: string | undefined;
  onImport: (actions: readonly ImportedAction[]) => void;
  onClose: () => void;
}

/** Reads a text in the browser, and lets the person choose among its operations. Nothing is sent. */
export function ImportActions({ baseUrl, onImport, onClose }: ImportOptions) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [imported, setImported] = useState<Imported>();
  const forget = () => {
    setProblem(undefined);
    setImported(undefined);
  };
  const read = async (source: string) => {
    forget();
    // Its libraries are loaded when they are needed.
    const { readImport } = await import('./import/read-import.js');
    try {
      setImported(readImport(source));
    } catch (error) {
      if (!(error instanceof NotReadable)) throw error;
      setProblem(error.message);
    }
  };
  const readFile = async (file: File | undefined) => {
    forget();
    if (file && file.size > maxImportedLength) return setProblem('The file is too large: it must have at most 4 MB.');
    if (file) await read(await file.text());
  };
  return (
    <Window title="Import actions" isDrawer onClose={onClose}>
      <TextField
        label="OpenAPI document (JSON or YAML), or a curl line"
        hint="It is read in this browser. Values and credentials of a curl line are not kept."
        rows={8}
        spellCheck={false}
        className={textStyles.code}
        text={text}
        onChange={(next) => {
          setText(next);
          forget();
        }}
      />
      <p className={controlStyles.actions}>
        <ActionButton name="Read" onClick={() => void read(text)} />
      </p>
      <Field label="Or a file">
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".json,.yaml,.yml,.txt"
            onChange={(event) => void readFile(event.target.files?.[0])}
          />
        )}
      </Field>
      {problem !== undefined && (
        <p className={messageStyles.problem} role="alert">
          {problem}
        </p>
      )}
      {imported && (
        <Choice
          {...{ imported, baseUrl }}
          onImport={(actions) => {
            onImport(actions);
            onClose();
          }}
        />
      )}
    </Window>
  );
}

interface ChoiceOptions extends Pick<ImportOptions, 'baseUrl' | 'onImport'> {
  imported: Imported;
}

function Choice({ imported: { actions, notes }, baseUrl, onImport }: ChoiceOptions) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set(actions.length === 1 ? [0] : []));
  const [searched, setSearched] = useState('');
  const listed = actions
    .map((action, at) => ({ action, at }))
    .filter(({ action: { name, method, address } }) =>
      `${name} ${method} ${address}`.toLowerCase().includes(searched.toLowerCase()),
    );
  const toggle = (at: number) => {
    const next = new Set(chosen);
    if (!next.delete(at)) next.add(at);
    setChosen(next);
  };
  return (
    <>
      <p role="status">{quantity(actions.length, 'operation')} found.</p>
      {notes.map((note) => (
        <p key={note} className={messageStyles.note}>
          {note}
        </p>
      ))}
      {actions.length > 10 && (
        <TextField label="Find an operation" type="search" text={searched} onChange={setSearched} />
      )}
      <ul className={`${listStyles.rows ?? ''} ${styles.operations ?? ''}`} aria-label="Operations">
        {listed.map(({ action, at }) => (
          <li key={at}>
            <CheckField
              label={
                <>
                  <bdi>{action.name}</bdi>{' '}
                  <span className={textStyles.soft}>
                    {action.method} {belowBase(action.address, baseUrl)}
                  </span>
                </>
              }
              isChecked={chosen.has(at)}
              onChange={() => toggle(at)}
            />
            {chosen.has(at) && <ActionNotes action={action} baseUrl={baseUrl} />}
          </li>
        ))}
      </ul>
      <p className={controlStyles.stickyActions}>
        <ActionButton
          name={`Add ${quantity(chosen.size, 'action')}`}
          className={buttonStyles.primary}
          isDisabled={chosen.size === 0}
          onClick={() => onImport(actions.filter((_, at) => chosen.has(at)))}
        />
      </p>
    </>
  );
}

/** What the person has to know about one operation before they add it. */
function ActionNotes({ action: { address, notes }, baseUrl }: { action: ImportedAction; baseUrl: string | undefined }) {
  const all = [...notes, ...addressNotes(belowBase(address, baseUrl), baseUrl)];
  if (all.length === 0) return null;
  return (
    <ul className={textStyles.soft}>
      {[...new Set(all)].slice(0, 20).map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function addressNotes(address: string, baseUrl: string | undefined): string[] {
  if (address.startsWith('/'))
    return baseUrl === undefined ? ['The address is a path: choose a connector, which has the rest of it.'] : [];
  if (baseUrl === undefined) return [];
  return [`The address is not below ${baseUrl}, so the credentials of the connector are not sent.`];
}
