import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { call } from '../api.js';
import { Confirm, ConfirmButton } from '../confirm.js';
import { RunLink } from '../links.js';
import { Badge, Loading, Problem, ScrollTable, Section, Window } from '../parts.js';
import { Time } from '../time.js';
import textStyles from '../styles/text.module.css';

const route = getRouteApi('/connectors/$connectorId');

/** Lists the agentflows that others changed and that may use this person's account, and asks about the run in the address. */
export function Agreements({ connectorId }: { connectorId: string }) {
  const { run } = route.useSearch();
  const navigate = useNavigate();
  const params = { connector_id: connectorId };
  const key = ['agreements', connectorId];
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: () => call('get', '/connectors/{projectID}/{connector_id}/agreements', { params, query: { limit: 200 } }),
  });
  const close = () =>
    void navigate({ to: '/connectors/$connectorId', params: { connectorId }, search: {}, replace: true });
  return (
    <Section title="Agreements">
      <p className={textStyles.soft}>
        Your account serves your own runs. It serves agentflows or connectors that other people changed only after you
        have agreed to what they do now.
      </p>
      <Problem error={error} />
      {run !== undefined && <Offer connectorId={connectorId} executionId={run} invalidates={[key]} onClose={close} />}
      {data && data.data.length > 0 && (
        <ScrollTable label="Agreements" head={['Agentflow', 'State', 'Agreed', 'Read in', '']}>
          {data.data.map(({ agreement_id, agentflow_name, is_in_force, agreed_at, execution_id }) => (
            <tr key={agreement_id}>
              <td>
                <bdi>{agentflow_name}</bdi>
              </td>
              <td>
                <Badge state={is_in_force ? 'active' : 'ended'} />
              </td>
              <td>
                <Time at={agreed_at} />
              </td>
              <td>
                <RunLink id={execution_id}>Open run</RunLink>
              </td>
              <td>
                <ConfirmButton
                  operation="delete /connectors/{projectID}/{connector_id}/agreements/{agreement_id}"
                  button="End…"
                  buttonName={`End the agreement to ${agentflow_name}…`}
                  title={`End the agreement to ${agentflow_name}?`}
                  action="End agreement"
                  isFinal
                  act={() =>
                    call('delete', '/connectors/{projectID}/{connector_id}/agreements/{agreement_id}', {
                      params: { ...params, agreement_id },
                    })
                  }
                  invalidates={[key]}
                >
                  <p>Runs of this content then no longer use your account, also those that are under way.</p>
                </ConfirmButton>
              </td>
            </tr>
          ))}
        </ScrollTable>
      )}
    </Section>
  );
}

interface OfferOptions {
  connectorId: string;
  executionId: string;
  invalidates: readonly (readonly unknown[])[];
  onClose: () => void;
}

/** Says in words what the person would agree to. */
function Offer({ connectorId, executionId, invalidates, onClose }: OfferOptions) {
  const { data: offer, error } = useQuery({
    queryKey: ['agreement offer', connectorId, executionId],
    queryFn: () =>
      call('get', '/connectors/{projectID}/{connector_id}/agreements/runs/{execution_id}', {
        params: { connector_id: connectorId, execution_id: executionId },
      }),
  });
  const title = 'Let this agentflow use your account?';
  if (!offer || offer.agreement_id !== null || offer.changed_by.length === 0)
    return (
      <Window title={title} onClose={onClose}>
        <Problem error={error} />
        {!offer && !error && <Loading />}
        {offer && <p>{offer.agreement_id === null ? offer.text : 'You have agreed to exactly this content.'}</p>}
      </Window>
    );
  return (
    <Confirm
      title={title}
      action="Agree"
      act={() =>
        call('post', '/connectors/{projectID}/{connector_id}/agreements', {
          params: { connector_id: connectorId },
          body: { execution_id: executionId, content_digest: offer.content_digest },
        })
      }
      invalidates={invalidates}
      onClose={onClose}
    >
      <p>{offer.text}</p>
      <p>
        <RunLink id={executionId}>Read what it does</RunLink>
      </p>
    </Confirm>
  );
}
