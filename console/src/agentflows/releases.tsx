import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type Release } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { TextField } from '../field.js';
import { Problem } from '../parts.js';
import { Time } from '../time.js';
import { useNames } from '../use-names.js';
import listStyles from '../styles/lists.module.css';
import textStyles from '../styles/text.module.css';

const production = 'production';

/** The releases of an agentflow. Each can be put into production, also an earlier one. */
export function Releases({ id, releases }: { id: string; releases: readonly Release[] }) {
  const nameOf = useNames();
  const [reason, setReason] = useState('');
  const { data, error } = useQuery({
    queryKey: ['agentflow', id, 'channels'],
    queryFn: () => call('get', '/agentflow/{id}/channels', { params: { id } }),
  });
  const current = data?.channels.find(({ channel }) => channel === production);
  return (
    <>
      <Problem error={error} />
      <ul className={listStyles.rows}>
        {releases.map(({ version, published_at, published_by, note }) => (
          <li key={version}>
            Version {version}, published <Time at={published_at} /> by <bdi>{nameOf(published_by)}</bdi>
            {note && `: ${note}`}
            {current?.version === version && (
              <>
                , <strong>in production</strong> since <Time at={current.promoted_at} isExact />
              </>
            )}
            {current?.split?.version === version && `, in production for ${current.split.percent} % of the runs`}{' '}
            {data && current?.version !== version && (
              <ConfirmButton
                operation="put /agentflow/{id}/channels/{channel}"
                button="Put into production…"
                buttonName={`Put version ${version} into production…`}
                title={`Put version ${version} into production?`}
                action="Put into production"
                act={(options) =>
                  call(
                    'put',
                    '/agentflow/{id}/channels/{channel}',
                    {
                      params: { id, channel: production },
                      body: { version, expected: current?.digest ?? null, note: reason },
                    },
                    options,
                  )
                }
                invalidates={[['agentflow', id]]}
              >
                <p className={textStyles.soft}>
                  Runs that start from then on take version {version}. Open runs keep theirs.
                </p>
                <TextField label="Note (optional)" name="note" text={reason} onChange={setReason} maxLength={2000} />
                {current && <Risks id={id} version={version} />}
              </ConfirmButton>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** What runs may do in addition to those of the release in production. */
function Risks({ id, version }: { id: string; version: number }) {
  const { data, error } = useQuery({
    queryKey: ['agentflow', id, 'diff', version],
    queryFn: () =>
      call('get', '/agentflow/{id}/diff', { params: { id }, query: { from: production, to: String(version) } }),
  });
  if (!data) return <Problem error={error} />;
  if (data.risks.length === 0) return <p className={textStyles.soft}>Runs may do nothing in addition.</p>;
  return (
    <ul>
      {data.risks.map(({ kind, path, text }) => (
        <li key={`${kind} ${path} ${text}`}>
          <code>{path}</code>: {text}
        </li>
      ))}
    </ul>
  );
}
