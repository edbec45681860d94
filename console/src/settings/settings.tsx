import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, validationTextOf, type Settings as StoredSettings } from '../api.js';
import { Confirm, ConfirmButton } from '../confirm.js';
import { JsonField, parsed, problemsAt } from '../json-field.js';
import { Problem, Page, Section } from '../parts.js';
import { changesOf, isFields, type Fields } from '../agentflows/document.js';
import { useDraft } from '../use-draft.js';
import { useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';
import { AboutProject } from './about-project.js';
import { ExecutionRetention } from './retention.js';
import { Form, SaveButtons, SelectField } from '../field.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import formStyles from '../styles/form.module.css';

export function Settings() {
  const may = useMay();
  return (
    <Page title="Settings">
      <AboutProject />
      {may('get /v1/projects/{projectId}/mode') && <Mode />}
      {may('get /settings/{projectID}') && <Stored />}
      {may('get /customer/settings') && <RunsWithoutRole />}
    </Page>
  );
}

const modes = {
  simple: 'Clients can write to the context graph directly if the policies permit it.',
  governed: 'Clients cannot write to the context graph. Syncs and approved changes can.',
} as const;

function Mode() {
  const { data, error } = useQuery({ queryKey: ['mode'], queryFn: () => call('get', '/v1/projects/{projectId}/mode') });
  const other = data?.mode === 'simple' ? 'governed' : 'simple';
  return (
    <Section title="Governance mode">
      <Problem error={error} />
      {data && (
        <p role="status">
          The project is in <strong>{data.mode}</strong> mode. {modes[data.mode]}
        </p>
      )}
      {data && (
        <ConfirmButton
          operation="put /v1/projects/{projectId}/mode"
          button={`Switch to ${other}…`}
          title={`Switch to ${other} mode?`}
          action={`Switch to ${other}`}
          act={(options) => call('put', '/v1/projects/{projectId}/mode', { body: { mode: other } }, options)}
          invalidates={[['mode']]}
        >
          <p>{modes[other]}</p>
        </ConfirmButton>
      )}
    </Section>
  );
}

const choices = {
  hold: 'are paused, and wait in the inbox until somebody resumes or ends them',
  end: 'end as cancelled',
} as const;

/** What becomes of the runs of people who lose their role, in all projects of the organization. */
function RunsWithoutRole() {
  const { data, error } = useQuery({
    queryKey: ['organization-settings'],
    queryFn: () => call('get', '/customer/settings'),
  });
  const may = useMay();
  const other = data?.runs_without_role === 'end' ? 'hold' : 'end';
  const action = other === 'end' ? 'End such runs' : 'Pause such runs';
  return (
    <Section title="Runs of people without a role">
      <Problem error={error} />
      {data && (
        <p role="status">
          Runs whose person no longer has a role that permits them {choices[data.runs_without_role]}. This applies to
          all projects of the organization.
        </p>
      )}
      {data && !may('patch /customer/settings') && <p className={textStyles.soft}>Only an owner can change this.</p>}
      {data && (
        <ConfirmButton
          operation="patch /customer/settings"
          button={`${action}…`}
          title={`${action}?`}
          action={action}
          act={(options) => call('patch', '/customer/settings', { body: { runs_without_role: other } }, options)}
          invalidates={[['organization-settings']]}
        >
          <p>From then on, runs whose person no longer has a role that permits them {choices[other]}.</p>
        </ConfirmButton>
      )}
    </Section>
  );
}

function Stored() {
  const { data, error } = useQuery({ queryKey: ['settings'], queryFn: () => call('get', '/settings/{projectID}') });
  return (
    <>
      <Section title="Data events">
        <Problem error={error} />
        {data && <DataEvents isOn={data.data_events} />}
      </Section>
      {data && (
        <Section title="Retention of runs">
          <ExecutionRetention retention={data.execution_retention} />
        </Section>
      )}
      {data && (
        <Section title="Language">
          <Language language={data.language} />
        </Section>
      )}
      {data && <OtherSettings settings={data} />}
    </>
  );
}

function DataEvents({ isOn }: { isOn: boolean }) {
  const action = isOn ? 'Turn off' : 'Turn on';
  return (
    <>
      <p role="status">
        Changes to table rows, file contents and read marks are {isOn ? 'recorded' : 'not recorded'} in lifecycles and
        the audit chain.
      </p>
      <ConfirmButton
        operation="patch /settings/{projectID}"
        button={`${action}…`}
        title={isOn ? 'Stop recording data events?' : 'Record data events?'}
        action={action}
        act={(options) => call('patch', '/settings/{projectID}', { body: { data_events: !isOn } }, options)}
        invalidates={[['settings']]}
      >
        <p>
          {isOn
            ? 'Further changes are not recorded in the audit chain.'
            : 'Each of these changes creates a lifecycle and an audit entry.'}
        </p>
      </ConfirmButton>
    </>
  );
}

const languages: readonly StoredSettings['language'][] = ['auto', 'de', 'en', 'es', 'fr', 'ja', 'zh'];
const languageNames = new Intl.DisplayNames('en', { type: 'language' });
const languageName = (language: string) =>
  language === 'auto' ? 'Automatic (from the first saved texts)' : (languageNames.of(language) ?? language);

function Language({ language }: { language: StoredSettings['language'] }) {
  const may = useMay();
  const [chosenLanguage, setChosenLanguage] = useState<StoredSettings['language']>();
  return (
    <>
      <p role="status">Search language of the context graph: {languageName(language)}.</p>
      {may('patch /settings/{projectID}') && (
        <form className={formStyles.narrow}>
          <SelectField
            label="Change language to"
            value={language}
            options={languages.map((each) => ({ value: each, name: languageName(each) }))}
            onChange={(each) => setChosenLanguage(each as StoredSettings['language'])}
          />
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

function textOf({ reference_mapping, user_connectors, connector_group, user_settings_schema }: StoredSettings): string {
  return JSON.stringify({ reference_mapping, user_connectors, connector_group, user_settings_schema }, null, 2);
}

/** Edits the settings that the service stores but does not interpret, as JSON. Sends the fields that the person changed. */
function OtherSettings({ settings }: { settings: StoredSettings }) {
  const may = useMay();
  const queries = useQueryClient();
  const stored = textOf(settings);
  const [draft, setDraft, forget] = useDraft('settings.rest');
  const [base, setBase] = useDraft('settings.rest.base');
  // Open from the start if the person has typed something before.
  const [isOpen] = useState(draft !== '');
  const before = draft === '' || base === '' ? stored : base;
  const read = parsed(draft || stored);
  const { error, submit, clearError } = useSubmit(async (options) => {
    if ('problem' in read) return;
    const { value } = read;
    const body = isFields(value) ? changesOf(value, JSON.parse(before) as Fields) : (value as Fields);
    const saved = await call('patch', '/settings/{projectID}', { body }, options);
    queries.setQueryData(['settings'], saved);
    setBase(forget(draft) ? '' : textOf(saved));
  });
  const refused = validationTextOf(error);
  const problems = refused === undefined ? [] : problemsAt(refused, draft);
  const isOffered = may('patch /settings/{projectID}');
  return (
    <details open={isOpen}>
      <summary>Settings of integrations (JSON)</summary>
      <p className={textStyles.soft}>
        Programs that use this project can keep settings here. The service stores them and does not use them itself.
      </p>
      <Form error={refused === undefined ? error : undefined} onSubmit={() => void submit()}>
        {before !== stored && (
          <p className={messageStyles.note}>
            Somebody has changed these settings since you started editing. If you save, your changes overwrite theirs in
            the fields that you edited.
          </p>
        )}
        <JsonField
          label="Settings (JSON)"
          rows={12}
          text={draft || stored}
          onChange={(next) => {
            setBase(before);
            setDraft(next);
          }}
          problems={'problem' in read ? [read.problem] : problems}
          isReadOnly={!isOffered}
        />
        {isOffered && (
          <SaveButtons
            isChanged={draft !== ''}
            onDiscard={() => {
              setDraft('');
              setBase('');
              clearError();
            }}
          />
        )}
      </Form>
    </details>
  );
}
