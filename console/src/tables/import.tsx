import { useState } from 'react';
import { call, isResponse, messageOf, newIdempotencyKey, type Table } from '../api.js';
import { Problem, ScrollTable, Window } from '../parts.js';
import { batchesOf, problemsByLine, readCsv, type CsvFile, type CsvRow } from './csv.js';
import { quantity } from '../quantity.js';
import { useIsGone } from '../use-is-gone.js';
import { textOf } from './values.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';
import styles from './preview.module.css';

const previewed = 5;

interface ImportOptions {
  table: Table;
  onClose: () => void;
  onDone: () => void;
}

export function ImportRows({ table, onClose, onDone }: ImportOptions) {
  const [file, setFile] = useState<CsvFile>();
  const [problem, setProblem] = useState<unknown>();
  const choose = async (chosen: File | undefined) => {
    setFile(undefined);
    setProblem(undefined);
    try {
      if (chosen) setFile(await readCsv(chosen, table));
    } catch (failure) {
      setProblem(failure);
    }
  };
  return (
    <Window title={`Import CSV into ${table.table_name}`} onClose={onClose}>
      <p className={textStyles.soft}>
        The first line must contain column names. Empty cells get the default value of their column. Dates must be ISO
        dates or epoch seconds.
      </p>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          CSV file
          <input
            type="file"
            accept=".csv,.tsv,text/csv,text/tab-separated-values"
            onChange={(event) => void choose(event.target.files?.[0])}
          />
        </label>
      </form>
      <Problem error={problem} />
      {file && (
        <>
          <Preview file={file} />
          <Insert {...{ table, file, onClose, onDone }} />
        </>
      )}
    </Window>
  );
}

function Preview({ file: { columns, rows, ignored } }: { file: CsvFile }) {
  return (
    <>
      {ignored.length > 0 && (
        <p className={messageStyles.note}>
          Not imported, because the table has no such columns: <bdi>{ignored.join(', ')}</bdi>
        </p>
      )}
      <div className={styles.preview}>
        <ScrollTable
          label="The first rows of the file"
          head={['Line', ...columns.map(({ column_name }) => column_name)]}
        >
          {rows.slice(0, previewed).map(({ line, record }) => (
            <tr key={line}>
              <td>{line}</td>
              {columns.map((column) => (
                <td key={column.column_id}>{textOf(column, record[column.column_id])}</td>
              ))}
            </tr>
          ))}
        </ScrollTable>
      </div>
    </>
  );
}

function Insert({ table, file, onClose, onDone }: ImportOptions & { file: CsvFile }) {
  const [batches] = useState(() => batchesOf(file.rows).map((rows) => ({ rows, key: newIdempotencyKey() })));
  const [next, setNext] = useState(0);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ error: unknown; lines: string[] }>();
  const isGone = useIsGone();
  const inserted = batches.slice(0, next).reduce((sum, { rows }) => sum + rows.length, 0);
  const start = async () => {
    setBusy(true);
    setRefused(undefined);
    for (let at = next; at < batches.length && !isGone.current; at += 1) {
      const batch = batches[at] as (typeof batches)[number];
      try {
        await insert(table._id, batch);
        setNext(at + 1);
      } catch (error) {
        const lines = isResponse(error) ? problemsByLine(plain(messageOf(error)), batch.rows, table.columns) : [];
        setRefused({ error, lines });
        // A refused batch gets a new key, because it is corrected first. Without a response, the same request is
        // retried.
        if (isResponse(error)) batch.key = newIdempotencyKey();
        setBusy(false);
        if (at > 0) onDone();
        return;
      }
    }
    onDone();
    if (!isGone.current) onClose();
  };
  const remaining = batches[next]?.rows[0]?.line;
  const count = quantity(file.rows.length, 'row');
  return (
    <>
      <p role="status">{isBusy || inserted > 0 ? `${inserted} of ${count} imported.` : `${count} in the file.`}</p>
      {refused && refused.lines.length === 0 && <Problem error={refused.error} />}
      {refused && refused.lines.length > 0 && (
        <div className={messageStyles.problem} role="alert">
          <p>
            {inserted === 0
              ? 'No rows were imported. Correct the file, and select it again.'
              : `Rows from line ${remaining} on were not imported. Correct them, and import a file that contains only these rows.`}
          </p>
          <ul>
            {refused.lines.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      <p className={controlStyles.actions}>
        <button
          type="button"
          className={buttonStyles.primary}
          disabled={isBusy || file.rows.length === 0}
          onClick={() => void start()}
        >
          {next > 0 ? 'Continue' : `Import ${count}`}
        </button>
      </p>
    </>
  );
}

async function insert(tableId: string, { rows, key }: { rows: readonly CsvRow[]; key: string }): Promise<void> {
  const records = rows.map(({ record }) => record);
  await call(
    'post',
    '/storage/{projectID}/table/{table_id}/row',
    { params: { table_id: tableId }, body: records.length === 1 ? (records[0] as CsvRow['record']) : records },
    { idempotencyKey: key },
  );
}

const plain = (message: string) => `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
