import { call, type OwnSession } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { LoadOlder, Problem, Section, Loading } from '../parts.js';
import { Time } from '../time.js';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';
import listStyles from '../styles/lists.module.css';
import textStyles from '../styles/text.module.css';
import { usePages } from '../use-pages.js';
import { deviceOf } from './device.js';

const queryKey = ['sessions'];

/** Lists where the person is signed in, and ends one of these sessions or all others. */
export function Sessions() {
  const { rows, total, error, hasOlder, loadOlder } = usePages({
    queryKey,
    load: (query) => call('get', '/v1/auth/sessions', { query }),
    counted: ['session', 'sessions'],
    pageSize: 20,
  });
  return (
    <Section title="Sessions">
      <p className={textStyles.soft}>Where you are signed in. End a session that you do not know.</p>
      <Problem error={error} />
      {rows === undefined && !error && <Loading />}
      <ul className={listStyles.rows} aria-label="Sessions">
        {rows?.map((session) => (
          <Session key={session.session_id} session={session} />
        ))}
      </ul>
      <LoadOlder hasOlder={hasOlder} load={loadOlder} />
      {total > 1 && (
        <p className={controlStyles.actions}>
          <ConfirmButton
            operation="delete /v1/auth/sessions"
            button="End all others…"
            title="End all your other sessions?"
            action="End other sessions"
            isFinal
            act={() => call('delete', '/v1/auth/sessions')}
            invalidates={[queryKey]}
          >
            <p>They end at once, on all devices. API keys and connected apps stay.</p>
          </ConfirmButton>
        </p>
      )}
    </Section>
  );
}

function Session({ session }: { session: OwnSession }) {
  const { session_id, user_agent, created_at, last_used_at, is_current } = session;
  const device = deviceOf(user_agent);
  return (
    <li>
      <strong title={user_agent ?? undefined}>
        <bdi>{device}</bdi>
      </strong>{' '}
      {is_current && '(this session)'}{' '}
      {!is_current && (
        <ConfirmButton
          operation="delete /v1/auth/sessions/{session_id}"
          button="End…"
          buttonName={`End the session of ${device}…`}
          className={buttonStyles.plain}
          title="End this session?"
          action="End session"
          isFinal
          act={() => call('delete', '/v1/auth/sessions/{session_id}', { params: { session_id } })}
          invalidates={[queryKey]}
        >
          <p>Its next request is refused, and the person must sign in again. API keys and connected apps stay.</p>
        </ConfirmButton>
      )}
      <p className={textStyles.soft}>
        Signed in <Time at={created_at} />, last used <Time at={last_used_at} />
      </p>
    </li>
  );
}
