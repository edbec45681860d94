import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, newIdempotencyKey, send } from '../api.js';
import { Time } from '../time.js';
import { useNames } from '../use-names.js';
import messageStyles from '../styles/message.module.css';

const intervalMs = 20_000;

interface OtherEditorsOptions {
  /** Undefined for a new agentflow, which nobody else can open. */
  agentflowId: string | undefined;
  /** Whether this person has changes that are not saved. */
  hasChanges: boolean;
}

/** Tells the service that the editor is open here, and shows who else has it open. A hidden page says nothing, so the service forgets it. */
export function OtherEditors({ agentflowId, hasChanges }: OtherEditorsOptions) {
  return agentflowId !== undefined && <Others id={agentflowId} hasChanges={hasChanges} />;
}

function Others({ id, hasChanges }: { id: string; hasChanges: boolean }) {
  const nameOf = useNames();
  const [window] = useState(newIdempotencyKey);
  const { data, isSuccess } = useQuery({
    queryKey: ['agentflow-editors', id, window, hasChanges],
    queryFn: () =>
      call('post', '/agentflow/{id}/editing', {
        params: { id },
        body: { window, state: hasChanges ? 'changed' : 'open' },
      }),
    refetchInterval: intervalMs,
    refetchOnWindowFocus: 'always',
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  useSayClosed(id, window);
  // After a failure, nobody knows who is still there.
  const others = isSuccess ? data.data : [];
  return (
    <div role="status" aria-label="Who else is editing">
      {others.map(({ user_id, since, has_changes }) => (
        <p key={user_id} className={messageStyles.note}>
          <bdi>{nameOf(user_id)}</bdi> {has_changes ? 'is also editing this agentflow' : 'also has this agentflow open'}{' '}
          (opened <Time at={since} />
          {has_changes && ', with unsaved changes'}).
        </p>
      ))}
    </div>
  );
}

/** Says that the editor is closed when its page or its tab is left. Without this message, the service forgets the person after a minute. */
function useSayClosed(id: string, window: string): void {
  useEffect(() => {
    const say = () => {
      const body = JSON.stringify({ window, state: 'closed' });
      const headers = { 'content-type': 'application/json' };
      const path = `/agentflow/${encodeURIComponent(id)}/editing`;
      // The browser sends it even if the page is gone.
      void send(path, { method: 'POST', headers, body, keepalive: true }).catch(() => undefined);
    };
    addEventListener('pagehide', say);
    return () => {
      removeEventListener('pagehide', say);
      say();
    };
  }, [id, window]);
}
