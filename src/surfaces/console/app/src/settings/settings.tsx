import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, validationTextOf, type Settings as StoredSettings } from '../api.js';
import { Confirm } from '../confirm.js';
import { JsonField, parsed, problemsAt } from '../json-field.js';
import { Problem, useDraft } from '../parts.js';
import { useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';
import { useTitle } from '../use-title.js';
import { AboutProject } from './about-project.js';

export function Settings() {
  useTitle('Settings');
  const may = useMay();
  return (
    <>
      <h1>Settings</h1>
      <AboutProject />
      {may('get /v1/projects/{projectId}/mode') && <Mode />}
      {may('get /settings/{projectID}') && <Stored />}
    </>
  );
}

const modes = {
  simple: 'Clients can write to the context graph directly if the policies permit it.',
  governed: 'Clients cannot write to the context graph. Syncs and approved changes can.',
} as const;

function Mode() {
  const may = useMay();
  const [chosenMode, setChosenMode] = useState<keyof typeof modes>();
  const { data, error } = useQuery({ queryKey: ['mode'], queryFn: () => call('get', '/v1/projects/{projectId}/mode') });
  const other = data?.mode === 'simple' ? 'governed' : 'simple';
  return (
    <section aria-labelledby="mode">
      <h2 id="mode">Governance mode</h2>
      <Problem error={error} />
      {data && (
        <p role="status">
          The project is in <strong>{data.mode}</strong> mode. {modes[data.mode]}
        </p>
      )}
      {data && may('put /v1/projects/{projectId}/mode') && (
        <button type="button" onClick={() => setChosenMode(other)}>
          Switch to {other}…
        </button>
      )}
      {chosenMode && (
        <Confirm
          title={`Switch to ${chosenMode} mode?`}
          action={`Switch to ${chosenMode}`}
          act={(options) => call('put', '/v1/projects/{projectId}/mode', { body: { mode: chosenMode } }, options)}
          invalidates={[['mode']]}
          onClose={() => setChosenMode(undefined)}
        >
          <p>{modes[chosenMode]}</p>
        </Confirm>
      )}
    </section>
  );
}

function Stored() {
  const { data, error } = useQuery({ queryKey: ['settings'], queryFn: () => call('get', '/settings/{projectID}') });
  return (
    <>
      <section aria-labelledby="events">
        <h2 id="events">Data events</h2>
        <Problem error={error} />
        {data && <DataEvents isOn={data.data_events} />}
      </section>
      {data && (
        <section aria-labelledby="language">
          <h2 id="language">Language</h2>
          <Language language={data.language} />
        </section>
      )}
      {data && (
        <section aria-labelledby="form">
          <h2 id="form">User and connector settings</h2>
          <OtherSettings settings={data} />
        </section>
      )}
    </>
  );
}

function DataEvents({ isOn }: { isOn: boolean }) {
  const may = useMay();
  const [isConfirming, setConfirming] = useState(false);
  const action = isOn ? 'Turn off' : 'Turn on';
  return (
    <>
      <p role="status">
        Changes to table rows, file contents and read marks are {isOn ? 'recorded' : 'not recorded'} in lifecycles and
        the audit chain.
      </p>
      {may('patch /settings/{projectID}') && (
        <button type="button" onClick={() => setConfirming(true)}>
          {action}…
        </button>
      )}
      {isConfirming && (
        <Confirm
          title={isOn ? 'Stop recording data events?' : 'Record data events?'}
          action={action}
          act={(options) => call('patch', '/settings/{projectID}', { body: { data_events: !isOn } }, options)}
          invalidates={[['settings']]}
          onClose={() => setConfirming(false)}
        >
          <p>
            {isOn
              ? 'Further changes are not recorded in the audit chain.'
              : 'Each of these changes creates a lifecycle and an audit entry.'}
          </p>
        </Confirm>
      )}
    </>
  );
}

const languages: readonly StoredSettings['language'][] = ['auto', 'de', 'en', 'es', 'fr', 'ja', 'zh'];
const languageNames = new Intl.DisplayNames('en', { type: 'language' });
const languageName = (language: string) =>
  language === 'auto' ? 'Automatic (from the first saved texts)' : languageNames.of(language);

function Language({ language }: { language: StoredSettings['language'] }) {
  const may = useMay();
  const [chosenLanguage, setChosenLanguage] = useState<StoredSettings['language']>();
  return (
    <>
      <p role="status">Search language of the context graph: {languageName(language)}.</p>
      {may('patch /settings/{projectID}') && (
        <form className="narrow">
          <label>
            Change language to{' '}
            <select
              value={language}
              onChange={(event) => setChosenLanguage(event.target.value as StoredSettings['language'])}
            >
              {languages.map((each) => (
                <option key={each} value={each}>
                  {languageName(each)}
                </option>
              ))}
            </select>
          </label>
        </form>
      )}
      {chosenLanguage && (
        <Confirm
          title={`Change the language to ${languageName(chosenLanguage)}?`}
          action="Change language"
          act={(options) => call('patch', '/settings/{projectID}', { body: { language: chosenLanguage } }, options)}
          invalidates={[['settings']]}
          onClose={() => setChosenLanguage(undefined)}
        >
          <p>Saved texts are indexed again. Until that is complete, searches use the previous index.</p>
        </Confirm>
      )}
    </>
  );
}

/** Edits the settings that the service stores but does not interpret, as JSON. */
function OtherSettings({ settings }: { settings: StoredSettings }) {
  const may = useMay();
  const queries = useQueryClient();
  const { reference_mapping, user_connectors, connector_group, user_settings_schema } = settings;
  const stored = JSON.stringify({ reference_mapping, user_connectors, connector_group, user_settings_schema }, null, 2);
  const [draft, setDraft] = useDraft('settings.rest');
  const read = parsed(draft || stored);
  const { error, isBusy, submit, forget } = useSubmit(async (options) => {
    if ('problem' in read) return;
    const body = read.value as object;
    queries.setQueryData(['settings'], await call('patch', '/settings/{projectID}', { body }, options));
    setDraft('');
  });
  const refused = validationTextOf(error);
  const problems = refused === undefined ? [] : problemsAt(refused, draft);
  const isOffered = may('patch /settings/{projectID}');
  const discard = () => {
    setDraft('');
    forget();
  };
  return (
    <>
      {refused === undefined && <Problem error={error} />}
      <JsonField
        label="Settings (JSON)"
        rows={12}
        text={draft || stored}
        onChange={setDraft}
        problems={'problem' in read ? [read.problem] : problems}
        isReadOnly={!isOffered}
      />
      {isOffered && (
        <p className="actions">
          <button type="button" className="primary" disabled={draft === '' || isBusy} onClick={() => void submit()}>
            Save
          </button>
          <button type="button" disabled={draft === ''} onClick={discard}>
            Discard changes
          </button>
        </p>
      )}
    </>
  );
}
