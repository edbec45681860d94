import { useRef, useState, type ReactNode } from 'react';
import { ErrorText, Window } from './parts.js';
import { quantity } from './quantity.js';
import textStyles from './styles/text.module.css';
import buttonStyles from './styles/button.module.css';
import listStyles from './styles/lists.module.css';
import controlStyles from './styles/controls.module.css';

const atOnce = 4;
const maxListed = 200;

interface EachOptions<T> {
  /** The label of the button, without the number of records. */
  action: string;
  isFinal: boolean;
  records: readonly T[];
  /** The singular noun for the records. */
  noun: string;
  keyOf(record: T): string;
  nameOf(record: T): string;
  /** Returns what was done. */
  act(record: T): Promise<ReactNode>;
  /** Called after the last record, unless the person has closed the dialog. */
  onEnd(failures: number): void;
  onClose: () => void;
  /** The consequence of the action, and its input fields. */
  children: ReactNode;
}

/** Asks the person to confirm an action on several records, and shows the result of each. Closing stops it. */
export function Each<T>({ action, isFinal, noun, keyOf, nameOf, act, onEnd, onClose, ...props }: EachOptions<T>) {
  // A record that no longer matches the filter leaves the list, but not this dialog.
  const [records] = useState(props.records);
  const [results, setResults] = useState<ReadonlyMap<string, { isDone: boolean; text: ReactNode }>>(new Map());
  const [isStarted, setStarted] = useState(false);
  const isStopped = useRef(false);
  const start = async () => {
    setStarted(true);
    const waiting = [...records];
    let failures = 0;
    const tryOne = async (record: T) => {
      try {
        return { isDone: true, text: await act(record) };
      } catch (error) {
        failures += 1;
        return { isDone: false, text: <ErrorText error={error} /> };
      }
    };
    const work = async () => {
      for (let record = waiting.shift(); record !== undefined && !isStopped.current; record = waiting.shift()) {
        const [key, result] = [keyOf(record), await tryOne(record)];
        setResults((known) => new Map(known).set(key, result));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (!isStopped.current) onEnd(failures);
  };
  const close = () => {
    isStopped.current = true;
    onClose();
  };
  const name = `${action} ${quantity(records.length, noun)}`;
  const done = [...results.values()].filter(({ isDone }) => isDone).length;
  return (
    <Window title={`${name}?`} onClose={close}>
      {isStarted ? (
        <p role="status">
          {results.size} of {records.length} processed, {done} succeeded.
        </p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void start();
          }}
        >
          {props.children}
          <p className={controlStyles.actions}>
            <button className={isFinal ? buttonStyles.danger : buttonStyles.primary}>{name}</button>
          </p>
        </form>
      )}
      <ul className={listStyles.results} aria-label="Results">
        {records.slice(0, maxListed).map((record) => {
          const { isDone = true, text } = results.get(keyOf(record)) ?? {};
          return (
            <li key={keyOf(record)}>
              <bdi>{nameOf(record)}</bdi> <span className={isDone ? textStyles.soft : textStyles.bad}>{text}</span>
            </li>
          );
        })}
      </ul>
    </Window>
  );
}
