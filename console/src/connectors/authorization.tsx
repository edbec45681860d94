import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../api.js';
import { ActionButton, Badge, Problem, Section } from '../parts.js';
import { Time } from '../time.js';
import { useMay } from '../session.js';
import { useSubmit } from '../use-submit.js';
import { ConfirmButton } from '../confirm.js';
import messageStyles from '../styles/message.module.css';
import controlStyles from '../styles/controls.module.css';

/** Shows whether this person or the project has granted access to the MCP server. */
export function Authorization({ connectorId }: { connectorId: string }) {
  const params = { connector_id: connectorId };
  const key = ['authorization', connectorId];
  const [address, setAddress] = useState<{ url: string; knownAt: number | null }>();
  const may = useMay();
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: () => call('get', '/connectors/{projectID}/{connector_id}/authorize', { params }),
    refetchInterval: ({ state }) => (address && (state.data?.authorized_at ?? null) === address.knownAt ? 2000 : false),
  });
  const isOpen = address !== undefined && (data?.authorized_at ?? null) === address.knownAt;
  const begin = useSubmit(async () => {
    const { authorization_url: url } = await call('post', '/connectors/{projectID}/{connector_id}/authorize', {
      params,
    });
    setAddress({ url, knownAt: data?.authorized_at ?? null });
  });
  return (
    <Section title="Authorization">
      <Problem error={error ?? begin.error} />
      {data && (
        <p role="status">
          <Badge state={data.state === 'none' ? 'not authorized' : data.state} />{' '}
          {data.owner === 'project' ? 'for the whole project' : 'for you'}
          {data.authorized_at !== null && (
            <>
              {', '}
              <Time at={data.authorized_at} />
            </>
          )}
          {data.scope !== null && `, scope ${data.scope}`}
          {data.reason !== null && `, ${data.reason}`}
        </p>
      )}
      {isOpen && <GrantAccess url={address.url} />}
      <p className={controlStyles.actions}>
        {may('post /connectors/{projectID}/{connector_id}/authorize') && (
          <ActionButton
            name={data?.state === 'authorized' ? 'Authorize again' : 'Authorize'}
            isDisabled={begin.isBusy}
            onClick={() => void begin.submit()}
          />
        )}
        {data && data.state !== 'none' && (
          <ConfirmButton
            operation="delete /connectors/{projectID}/{connector_id}/authorize"
            button="Revoke…"
            title="Revoke the authorization?"
            action="Revoke"
            isFinal
            act={() => call('delete', '/connectors/{projectID}/{connector_id}/authorize', { params })}
            invalidates={[key]}
            onDone={() => setAddress(undefined)}
          >
            <p>
              The tokens are deleted immediately, and revoked at the authorization server if it supports revocation.
            </p>
          </ConfirmButton>
        )}
      </p>
    </Section>
  );
}

/** Renders a link, because browsers block a tab that a script opens some time after the click. */
function GrantAccess({ url }: { url: string }) {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return null;
  return (
    <p className={messageStyles.note}>
      <a href={url} target="_blank" rel="noopener noreferrer">
        Grant access at {new URL(url).host}
      </a>{' '}
      in a new tab. This page updates when access has been granted.
    </p>
  );
}
