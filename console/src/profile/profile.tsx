import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { Field, Form, SaveButtons, SelectField, TextField } from '../field.js';
import { Loaded, Page, Section } from '../parts.js';
import { useMay } from '../session.js';
import buttonStyles from '../styles/button.module.css';
import formStyles from '../styles/form.module.css';
import messageStyles from '../styles/message.module.css';
import { storedTheme, storeTheme, themes, type Theme } from '../theme.js';
import { ownTimeZone, storeTimeZone, timeZones, useTimeZone } from '../time-zone.js';
import { useDraft } from '../use-draft.js';
import { useSubmit } from '../use-submit.js';
import { Sessions } from './sessions.js';

const queryKey = ['profile'];

/** The person's own account, and how the console looks for them. */
export function Profile() {
  const query = useQuery({ queryKey, queryFn: () => call('get', '/v1/auth/profile') });
  return (
    <Page title="Your profile">
      <Loaded query={query}>{({ name, email }) => <Name key={name} stored={name} email={email} />}</Loaded>
      <Password />
      <Sessions />
      <Appearance />
    </Page>
  );
}

function Name({ stored, email }: { stored: string; email: string }) {
  const queries = useQueryClient();
  const mayChange = useMay()('patch /v1/auth/profile');
  const [draft, setDraft, forget] = useDraft('profile.name');
  const name = draft || stored;
  const { error, isBusy, submit } = useSubmit(async (options) => {
    queries.setQueryData(queryKey, await call('patch', '/v1/auth/profile', { body: { name } }, options));
    forget(draft);
    await queries.invalidateQueries({ queryKey: ['members'] });
  });
  return (
    <Section title="Account">
      <Form className={formStyles.narrow} error={error} onSubmit={() => void submit()}>
        <p>
          You sign in with the email address <bdi>{email}</bdi>.
        </p>
        <TextField
          label="Name"
          name="name"
          hint="Other people see it instead of your email address."
          text={name}
          onChange={setDraft}
          maxLength={200}
          isReadOnly={!mayChange}
        />
        {mayChange && (
          <SaveButtons
            isChanged={name !== stored}
            canSave={name !== stored && !isBusy}
            onDiscard={() => forget(draft)}
          />
        )}
      </Form>
    </Section>
  );
}

/** Neither password is kept as a draft. */
function Password() {
  const queries = useQueryClient();
  const mayChange = useMay()('post /v1/auth/password');
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [isDone, setDone] = useState(false);
  const { error, isBusy, submit } = useSubmit(async (options) => {
    setDone(false);
    await call('post', '/v1/auth/password', { body: { current_password: current, new_password: next } }, options);
    setCurrent('');
    setNext('');
    setDone(true);
    await queries.invalidateQueries({ queryKey: ['sessions'] });
  });
  if (!mayChange) return null;
  const input = (text: string, set: (text: string) => void, autoComplete: string) => (control: object) => (
    <input
      {...control}
      type="password"
      autoComplete={autoComplete}
      maxLength={1024}
      value={text}
      onChange={(event) => set(event.target.value)}
    />
  );
  return (
    <Section title="Password">
      {isDone && (
        <p className={messageStyles.done} role="status">
          The password was changed, and your other sessions have ended.
        </p>
      )}
      <Form className={formStyles.narrow} error={error} onSubmit={() => void submit()}>
        <Field label="Current password" name="current_password">
          {input(current, setCurrent, 'current-password')}
        </Field>
        <Field
          label="New password"
          name="new_password"
          hint="At least 12 characters. Your other sessions end; API keys and connected apps stay."
        >
          {input(next, setNext, 'new-password')}
        </Field>
        <p>
          <button className={buttonStyles.primary} disabled={current === '' || next === '' || isBusy}>
            Change password
          </button>
        </p>
      </Form>
    </Section>
  );
}

function Appearance() {
  const [theme, setTheme] = useState(storedTheme);
  const zone = useTimeZone();
  const options = Object.entries(themes).map(([value, name]) => ({ value, name }));
  return (
    <Section title="Appearance">
      <form className={formStyles.narrow}>
        <SelectField
          label="Theme"
          value={theme}
          options={options}
          onChange={(value) => {
            storeTheme(value as Theme);
            setTheme(value as Theme);
          }}
          hint="Kept in this browser."
        />
        <SelectField
          label="Time zone"
          value={zone ?? ''}
          options={[
            { value: '', name: `As the browser: ${ownTimeZone()}` },
            ...timeZones().map((each) => ({ value: each, name: each })),
          ]}
          onChange={(value) => storeTimeZone(value === '' ? undefined : value)}
          hint="Times are shown in it. Schedules with a zone of their own also show theirs. Kept in this browser."
        />
      </form>
    </Section>
  );
}
