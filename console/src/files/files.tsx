import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { call, type ListedFile } from '../api.js';
import { List } from '../list.js';
import { Empty, Page } from '../parts.js';
import { apiAddress, projectId, useMay } from '../session.js';
import { NotDownloaded } from '../save-file.js';
import { UploadFiles } from './upload.js';
import { ConfirmButton } from '../confirm.js';
import { column, timeColumn, stateColumn, type Column } from '../table.js';
import buttonStyles from '../styles/button.module.css';

export function Files() {
  const may = useMay();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<{ name: string; error: unknown }>();
  const refresh = useCallback(() => void queries.invalidateQueries({ queryKey: ['files'] }), [queries]);
  const download = async ({ _id, name }: ListedFile) => {
    try {
      // The URL in the list may have expired.
      const { url } = await call('get', '/file/{projectID}/{file_id}', { params: { file_id: _id } });
      setProblem(undefined);
      location.assign(url);
    } catch (error) {
      setProblem({ name, error });
    }
  };
  return (
    <Page title="Knowledge and files">
      {may('post /file/{projectID}') && <UploadFiles onDone={refresh} />}
      {problem && <NotDownloaded {...problem} />}
      <List
        name="Files"
        counted={['file', 'files']}
        queryKey={['files']}
        load={(query) => call('get', '/file/{projectID}', { query })}
        columns={[...columns, actionsColumn(download)]}
        keyOf={({ _id }) => _id}
        empty={<NoFiles />}
      />
    </Page>
  );
}

const actionsColumn = (onDownload: (file: ListedFile) => Promise<void>): Column<ListedFile> =>
  column('Actions', { width: '14rem' }, (file) => (
    <>
      {file.status === 'ready' && (
        <button
          type="button"
          className={buttonStyles.small}
          aria-label={`Download ${file.name}`}
          onClick={() => void onDownload(file)}
        >
          Download
        </button>
      )}{' '}
      {file.status !== 'uploading' && <DeleteFile file={file} />}
    </>
  ));

function DeleteFile({ file: { _id, name, knowledge } }: { file: ListedFile }) {
  return (
    <ConfirmButton
      operation="delete /file/{projectID}/{file_id}"
      button="Delete…"
      buttonName={`Delete ${name}`}
      className={buttonStyles.small}
      title={`Delete ${name}?`}
      action="Delete file"
      isFinal
      act={() => call('delete', '/file/{projectID}/{file_id}', { params: { file_id: _id } })}
      invalidates={[['files']]}
    >
      <p>
        The content is deleted immediately{knowledge && ', and its chunks in the context graph shortly afterwards'}.
        This cannot be undone.
      </p>
    </ConfirmButton>
  );
}

const columns: readonly Column<ListedFile>[] = [
  stateColumn((file) => stateOf(file)),
  column('Name', { width: 'minmax(12rem, 3fr)', onNarrow: 'main' }, ({ name, mime_type }) => (
    <bdi title={mime_type}>{name}</bdi>
  )),
  column('Knowledge', { width: 'minmax(12rem, 2fr)', onNarrow: 'hidden' }, (file) => {
    const text = knowledgeText(file);
    return <span title={text}>{text}</span>;
  }),
  column('Tags', { width: 'minmax(7rem, 1fr)', onNarrow: 'hidden' }, ({ tags }) => (
    <bdi title={tags.join(', ')}>{tags.join(', ')}</bdi>
  )),
  column('Size', { width: '7rem' }, ({ size_in_kb }) => sizeText(size_in_kb)),
  timeColumn('Uploaded', ({ uploaded_on }) => uploaded_on / 1000, 'hidden'),
];

/** Returns the state of the document if the file itself is stored. */
const stateOf = ({ status, knowledge }: ListedFile) => (status === 'ready' && knowledge ? knowledge.status : status);

function knowledgeText({ knowledge }: ListedFile): string {
  if (!knowledge) return '–';
  const { chunks, failure, memory_id, extract_failure } = knowledge;
  if (failure !== null) return failure;
  const read = chunks.total === null ? 'Reading the text' : `${chunks.done} of ${chunks.total} chunks`;
  const facts = extract_failure === null ? '' : `, fact extraction failed: ${extract_failure}`;
  return `${read}${memory_id === null ? facts : ', facts extracted'}`;
}

function sizeText(kilobytes: number): string {
  if (kilobytes < 1) return `${Math.round(kilobytes * 1024)} B`;
  return kilobytes < 1024 ? `${Math.round(kilobytes)} KB` : `${Math.round(kilobytes / 102.4) / 10} MB`;
}

function NoFiles() {
  const command = `curl -X POST '${new URL(`knowledge_base/${projectId}/upload`, apiAddress).href}' \\
  -H "x-api-key: $SERVICE_API_KEY" -F extract=true -F file=@handbook.md`;
  return (
    <Empty command={command}>
      This project has no files yet. Documents in the knowledge base are added to the context graph, where agents can
      find them. Upload one here, or with this command:
    </Empty>
  );
}
