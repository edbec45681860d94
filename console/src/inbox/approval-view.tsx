import { useQuery } from '@tanstack/react-query';
import { call, type Approval, type FullApproval } from '../api.js';
import { Facts } from '../facts.js';
import { fieldsOf } from '../fields-of.js';
import { LifecycleLink } from '../links.js';
import { Badge } from '../parts.js';
import { Time } from '../time.js';
import { roleName } from '../roles.js';
import { useMay } from '../session.js';
import listStyles from '../styles/lists.module.css';
import messageStyles from '../styles/message.module.css';
import textStyles from '../styles/text.module.css';
import { useNames } from '../use-names.js';
import { operationText } from '../words/words.js';
import { CallFields, WholeText } from './call-view.js';
import { callOf, previewOf, type Subject } from './subject.js';

/** The call that waits for an approval, or was decided: what it does, who asked, why, and the votes. */
export function ApprovalView({ subject }: { subject: Subject }) {
  const { item, approval } = subject;
  if (item.kind !== 'approval') return null;
  const preview = previewOf(subject);
  const heldCall = callOf(subject);
  return (
    <>
      {approval && <Outcome approval={approval} />}
      <p className={textStyles.summary}>
        <strong>
          <bdi>{item.body.summary}</bdi>
        </strong>
      </p>
      {preview && (
        <p>
          Goal: <bdi>{preview.goal}</bdi>
        </p>
      )}
      <HttpCallLine heldCall={heldCall} />
      {!approval && <p className={textStyles.soft}>Loading the call…</p>}
      {approval && heldCall === undefined && (
        <p className={messageStyles.note}>Only approvers and auditors can see the call.</p>
      )}
      {approval && heldCall !== undefined && <ShownCall heldCall={heldCall} preview={preview} />}
      {approval && <AboutApproval approval={approval} />}
    </>
  );
}

/** Shows the HTTP request of an agent, which is hard to find in its data. */
function HttpCallLine({ heldCall }: { heldCall: unknown }) {
  const { method, url } = fieldsOf(fieldsOf(fieldsOf(heldCall).input).call);
  if (typeof method !== 'string' || typeof url !== 'string') return null;
  return (
    <p>
      <strong>{method}</strong> <code>{url}</code>
    </p>
  );
}

/** The plain fields of a call first, and then everything. */
function ShownCall({ heldCall, preview }: { heldCall: unknown; preview: ReturnType<typeof previewOf> }) {
  if (!preview)
    return (
      <>
        <CallFields call={heldCall} />
        <ExactCall value={heldCall} />
      </>
    );
  const { output } = fieldsOf(preview.proposed);
  if (typeof output === 'string') return <WholeText text={output} label="Proposed output" />;
  return (
    <>
      <CallFields call={{ input: preview.proposed }} />
      <ExactCall value={preview.proposed} />
    </>
  );
}

function ExactCall({ value }: { value: unknown }) {
  return (
    <details>
      <summary>Exact call</summary>
      <WholeText text={JSON.stringify(value, null, 2)} label="Exact call" />
    </details>
  );
}

/** Who decided, and on which text: the one that is shown. */
function Outcome({ approval }: { approval: FullApproval }) {
  const nameOf = useNames();
  const { status, decided_at, decided_by, payload_digest, edited_payload_digest } = approval;
  if (decided_at === null || decided_by === null) return null;
  return (
    <p className={status === 'rejected' ? messageStyles.note : messageStyles.done}>
      {status === 'rejected' ? 'Rejected' : 'Approved'} by <bdi>{nameOf(decided_by)}</bdi>, <Time at={decided_at} />, on
      exactly this {edited_payload_digest === null ? 'call' : 'call, which an approver changed'} (SHA-256{' '}
      <code>{(edited_payload_digest ?? payload_digest).slice(0, 12)}…</code>).
    </p>
  );
}

function AboutApproval({ approval }: { approval: FullApproval }) {
  const nameOf = useNames();
  const { approvals_given, required_approvers: required, used_by } = approval;
  return (
    <>
      <Facts
        of={{
          'Requested by': <bdi>{nameOf(approval.requested_by)}</bdi>,
          Reason: approval.reason,
          'Policy rules': <Rules approval={approval} />,
          'May decide': approval.approver_roles?.map(roleName).join(' or '),
          Votes: `${approvals_given} of ${required} approvals`,
          Expires: approval.clock_stopped_at !== null && 'Not while the run is paused',
          'Executed by': used_by && <LifecycleLink id={used_by} />,
        }}
      />
      <Votes approval={approval} />
      <details>
        <summary>Details</summary>
        <p className={textStyles.soft}>
          The approval permits this call once, exactly as it is. Any other call requires its own approval.
        </p>
        <Facts
          of={{
            Operation: (
              <>
                {operationText(approval.tool)} (<code>{approval.tool}</code>)
              </>
            ),
            'Call SHA-256': <code>{approval.payload_digest}</code>,
            'Edited call SHA-256': approval.edited_payload_digest && <code>{approval.edited_payload_digest}</code>,
            'Policy version': approval.policy_version,
            Call: approval.lifecycle_id && (
              <>
                <LifecycleLink id={approval.lifecycle_id} /> (<code>{approval.lifecycle_id}</code>)
              </>
            ),
            'Approval id': <code>{approval.approval_id}</code>,
          }}
        />
      </details>
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
            {text} <code className={textStyles.soft}>{id}</code>
          </li>
        );
      })}
    </ul>
  );
}

function Votes({ approval: { votes, edited_payload_digest } }: { approval: Approval }) {
  const nameOf = useNames();
  if (votes.length === 0) return null;
  return (
    <ul className={listStyles.rows} aria-label="Votes">
      {votes.map(({ user_id, role, decision, comment, at, payload_digest = null }) => (
        <li key={`${user_id} ${at}`}>
          <Badge state={decision} /> <bdi>{nameOf(user_id)}</bdi>, {roleName(role)}, <Time at={at} />
          {decision === 'approve' &&
            payload_digest !== edited_payload_digest &&
            ' (on an earlier text of the call; does not count)'}
          {comment !== '' && <p className={textStyles.box}>{comment}</p>}
        </li>
      ))}
    </ul>
  );
}
