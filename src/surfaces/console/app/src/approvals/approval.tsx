import { roleName } from '../roles.js';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { call, type Approval, type InboxItem } from '../api.js';
import { Facts } from '../facts.js';
import { CallFields, ViewNote, WholeText } from '../inbox/call-view.js';
import { Decide, DecisionButtons, type Decision } from '../inbox/decide.js';
import { LifecycleLink, RunLink } from '../links.js';
import { pollInterval } from '../news.js';
import { Badge, Time, Page, Section, Loaded, StateLine } from '../parts.js';
import { useMay } from '../session.js';
import { useNames } from '../use-names.js';

const route = getRouteApi('/approvals/$approvalId');

type FullApproval = Approval & { payload?: unknown };

export function ApprovalPage() {
  const { approvalId: id } = route.useParams();
  const query = useQuery({
    queryKey: ['approval', id],
    queryFn: () => call('get', '/v1/approvals/{id}', { params: { id } }),
    refetchInterval: ({ state }) =>
      /^(pending|approved)$/.test(state.data?.status ?? '') ? pollInterval({ state }) : false,
  });
  return (
    <Page title={query.data ? query.data.summary : 'Approval'}>
      <Loaded query={query}>
        {(approval) => (
          <>
            <StateLine state={approval.status} />
            <Section title="Requested call">
              <CallDetails approval={approval} />
            </Section>
            <Votes approval={approval} />
            <DecisionSection approval={approval} onDone={query.refetch} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function CallDetails({ approval }: { approval: FullApproval }) {
  const nameOf = useNames();
  const { tool, requested_by, payload, payload_digest, edited_payload_digest, clock_stopped_at } = approval;
  return (
    <>
      <p>
        This approval allows <bdi>{nameOf(requested_by)}</bdi> to make this call once, exactly as it is. Any other call
        requires its own approval.
      </p>
      {payload !== undefined && (
        <>
          <CallFields call={payload} />
          <WholeText text={JSON.stringify(payload, null, 2)} label="Exact call" />
        </>
      )}
      {payload === undefined && <p className="note">Only approvers and auditors can see the call.</p>}
      <Facts
        of={{
          Operation: <code>{tool}</code>,
          'Requested by': <bdi>{nameOf(requested_by)}</bdi>,
          'Payload SHA-256': <code>{payload_digest}</code>,
          'Edited payload SHA-256': edited_payload_digest && <code>{edited_payload_digest}</code>,
          'Policy rules': <Rules approval={approval} />,
          'Policy version': approval.policy_version,
          Reason: approval.reason,
          Requested: <Time at={approval.created_at} />,
          Expires: clock_stopped_at === null ? <Time at={approval.expires_at} /> : 'Not while the run is paused',
          'Approver roles': approval.approver_roles?.map(roleName).join(' or '),
          Decided:
            approval.decided_at === null ? undefined : (
              <span>
                <Time at={approval.decided_at} /> by <bdi>{nameOf(approval.decided_by ?? '')}</bdi>
              </span>
            ),
          Run: approval.execution_id && <RunLink id={approval.execution_id} />,
          Lifecycle: approval.lifecycle_id && <LifecycleLink id={approval.lifecycle_id} />,
          'Executed by': approval.used_by && <LifecycleLink id={approval.used_by} />,
          'Approval id': <code>{approval.approval_id}</code>,
        }}
      />
    </>
  );
}

/**
 * Lists the policy rules that hold the call, in the version that held it. Only people who may read policies see their
 * content.
 */
function Rules({ approval: { policy_ids, policy_version } }: { approval: Approval }) {
  const may = useMay();
  const { data } = useQuery({
    queryKey: ['policies', policy_version],
    queryFn: () =>
      policy_version === 0
        ? call('get', '/v1/policies')
        : call('get', '/v1/policies/versions/{version}', { params: { version: policy_version } }),
    enabled: may('get /v1/policies'),
    staleTime: Infinity,
  });
  const rules = data ? [...data.policies, ...data.builtin] : [];
  return (
    <ul>
      {policy_ids.map((id) => {
        const rule = rules.find(({ policy_id }) => policy_id === id);
        const text = [rule?.description, rule?.when && `when ${rule.when}`].filter(Boolean).join(' – ');
        return (
          <li key={id}>
            <code>{id}</code> <span className="soft">{text}</span>
          </li>
        );
      })}
    </ul>
  );
}

function Votes({ approval: { required_approvers: required, votes, approvals_given } }: { approval: Approval }) {
  const nameOf = useNames();
  return (
    <Section title="Votes">
      <p>
        {approvals_given} of {required} required {required === 1 ? 'approval' : 'approvals'}.
      </p>
      <ul className="rows">
        {votes.map(({ user_id, role, decision, comment, at }) => (
          <li key={`${user_id} ${at}`}>
            <Badge state={decision} /> <bdi>{nameOf(user_id)}</bdi>, {roleName(role)}, <Time at={at} />
            {comment !== '' && <p className="text">{comment}</p>}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Offers the decisions only to people whom the API allows to decide. */
function DecisionSection({ approval, onDone }: { approval: FullApproval; onDone: () => Promise<unknown> }) {
  const may = useMay();
  const [chosenDecision, setChosenDecision] = useState<Decision>();
  const { approval_id: id, status, may_decide, may_not_decide_reason, summary, payload, ...rest } = approval;
  // An open dialog stays open if somebody else decides in the meantime. The response then says so.
  if (chosenDecision === undefined && (status !== 'pending' || !may('post /v1/approvals/{id}/approve'))) return null;
  if (chosenDecision === undefined && !may_decide)
    return <p className="note">You cannot decide this request: {may_not_decide_reason}.</p>;
  const item = {
    _id: id,
    approval_id: id,
    kind: 'approval',
    title: summary,
    body: { ...rest, summary, call: payload },
  } as unknown as InboxItem;
  return (
    <Section title="Decision">
      <ViewNote view={approval.payload_view} />
      <DecisionButtons item={item} onChoose={setChosenDecision} />
      {chosenDecision && (
        <Decide
          item={item}
          decision={chosenDecision}
          onDone={onDone}
          onClose={() => setChosenDecision(undefined)}
          reply={({ reason, ...edited }, options) =>
            call(
              'post',
              // Only questions of MCP servers can be cancelled.
              `/v1/approvals/{id}/${chosenDecision as Exclude<Decision, 'cancel'>}`,
              {
                params: { id },
                body: { ...(reason !== undefined && { reason }), ...(chosenDecision === 'approve' && edited) } as never,
              },
              options,
            )
          }
        />
      )}
    </Section>
  );
}
