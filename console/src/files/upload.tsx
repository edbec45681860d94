import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { ActionButton, ErrorText, Section } from '../parts.js';
import { readAll } from '../read-all.js';
import { useMay } from '../session.js';
import { useUploads, type Upload } from './use-uploads.js';
import { CheckField } from '../field.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import listStyles from '../styles/lists.module.css';
import styles from './upload.module.css';

export function UploadFiles({ onDone }: { onDone: () => void }) {
  const may = useMay();
  const mayKnow = may('post /knowledge_base/{projectID}/upload');
  const [isKnowledge, setKnowledge] = useState(mayKnow);
  const [isExtracted, setExtracted] = useState(false);
  const [tags, setTags] = useState<readonly string[]>([]);
  const { uploads, add, dismiss, repeat } = useUploads(onDone);
  const take = (files: readonly File[]) => add(files, { isKnowledge, isExtracted: isKnowledge && isExtracted, tags });
  return (
    <Section title="Upload">
      <DropPlace onFiles={take} />
      <form className={styles.choices} onSubmit={(event) => event.preventDefault()}>
        {mayKnow && (
          <>
            <CheckField label="Add to the knowledge base" isChecked={isKnowledge} onChange={setKnowledge} />
            <CheckField
              label="Also extract facts"
              isChecked={isKnowledge && isExtracted}
              isDisabled={!isKnowledge}
              onChange={setExtracted}
            />
          </>
        )}
        <TagChoice chosen={tags} onChange={setTags} />
      </form>
      {uploads.length > 0 && (
        <ul className={listStyles.rows} aria-label="Uploads">
          {uploads.map((upload) => (
            <UploadLine
              key={upload.id}
              upload={upload}
              onDismiss={() => dismiss(upload)}
              onRepeat={() => repeat(upload)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The tags of the project, which the uploaded files can get. */
function TagChoice({ chosen, onChange }: { chosen: readonly string[]; onChange: (names: readonly string[]) => void }) {
  const enabled = useMay()('get /tag');
  const { data = [] } = useQuery({
    queryKey: ['tags', 'all'],
    queryFn: () => readAll((query) => call('get', '/tag', { query })),
    enabled,
    staleTime: 60_000,
  });
  if (data.length === 0) return null;
  return (
    <fieldset className={styles.tags}>
      <legend>Tags</legend>
      {data.map(({ name }) => (
        <CheckField
          key={name}
          label={<bdi>{name}</bdi>}
          isChecked={chosen.includes(name)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, name] : chosen.filter((other) => other !== name))}
        />
      ))}
    </fieldset>
  );
}

/** A drop zone. Its file input does the same by keyboard. */
function DropPlace({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  return (
    <div
      className={isOver ? `${styles.drop} ${styles.over}` : styles.drop}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <label>
        Select files, or drop them here{' '}
        <input
          type="file"
          multiple
          onChange={({ currentTarget: field }) => {
            onFiles([...(field.files ?? [])]);
            // Lets the person select the same file again.
            field.value = '';
          }}
        />
      </label>
    </div>
  );
}

interface LineOptions {
  upload: Upload;
  onDismiss: () => void;
  onRepeat: () => void;
}

function UploadLine({ upload: { file, state, part, problem }, onDismiss, onRepeat }: LineOptions) {
  const percent = Math.floor(part * 100);
  return (
    <li>
      <bdi>{file.name}</bdi> {state === 'sending' && <progress value={part} aria-label={`Upload of ${file.name}`} />}{' '}
      <span role="status" className={state === 'refused' ? textStyles.bad : textStyles.soft}>
        {state === 'refused' ? <ErrorText error={problem} /> : state === 'sending' ? `${percent} %` : state}
      </span>{' '}
      {state === 'refused' && <ActionButton name="Retry" className={buttonStyles.small} onClick={onRepeat} />}{' '}
      <ActionButton
        name={state === 'sending' || state === 'waiting' ? 'Cancel' : 'Dismiss'}
        className={buttonStyles.small}
        onClick={onDismiss}
      />
    </li>
  );
}
