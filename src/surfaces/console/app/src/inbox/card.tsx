import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call as callApi, capitalized, type Approval, type InboxItem, type MemoryReview } from '../api.js';
import { ForeignText } from '../foreign-text.js';
import { ConnectorLink, LifecycleLink, RunLink } from '../links.js';
import { Badge, Problem, Time } from '../parts.js';
import { useMay } from '../session.js';
import { useNames } from '../use-names.js';
import { CallFields, ViewNote, WholeText } from './call-view.js';
import { previewOf } from './edits.js';
import { MemoryReviewView, useMemoryReview } from './memory-review.js';
import { Decide, decisionsOf, DecisionButtons, type Decision } from './decide.js';
import { Facts } from '../facts.js';

interface CardOptions {
  item: InboxItem;
  onDone: () => Promise<unknown>;
  isOnRun?: boolean;
  /** A decision that the person chose by a keyboard shortcut. */
  decision?: Decision | undefined;
  onDecision?: (decision: Decision | undefined) => void;
}

/** Shows one inbox item: exactly what would happen, the votes so far, and the buttons to decide. */
export function InboxCard({ item, onDone, isOnRun = false, decision: decisionByKey, onDecision }: CardOptions) {
  const [ownDecision, setOwnDecision] = useState<Decision>();
  const [openDecision, setOpenDecision] = onDecision ? [decisionByKey, onDecision] : [ownDecision, setOwnDecision];
  const { kind, title, body, execution_id, created_at, expires_at, status } = item;
  const memory = useMemoryReview(kind === 'memory' ? String(body.memory_id) : undefined);
  const call = useHeldItem(item);
  const held = kind === 'memory' ? reviewedItem(item, memory.review) : call.held;
  const mayDecide = useMay()('post /inbox/{id}/reply') && item.may_decide && held !== undefined;
  return (
    <article className="card" aria-label={title}>
      <p>
        <Badge state={status} /> {kind}, since <Time at={created_at} />
        {expires_at !== null && (
          <>
            , until <Time at={expires_at} />
          </>
        )}
      </p>
      {kind === 'approval' && <HeldCall item={held ?? item} isRead={held !== undefined} />}
      <Problem error={call.error} />
      {kind === 'elicitation' && <Question item={item} />}
      {kind === 'authorization' && <EndedAuthorization item={item} />}
      {kind === 'run' && <HeldRun item={item} />}
      {kind === 'memory' && <MemoryReviewView {...memory} />}
      {execution_id !== null && !isOnRun && (
        <p>
          <RunLink id={execution_id}>Open run</RunLink>
        </p>
      )}
      {mayDecide ? (
        <div className="decision">
          <ViewNote view={(held.body as Partial<Approval>).payload_view} />
          <DecisionButtons item={held} onChoose={setOpenDecision} />
        </div>
      ) : (
        item.may_not_decide_reason && <p className="note">{capitalized(item.may_not_decide_reason)}.</p>
      )}
      {openDecision && mayDecide && decisionsOf(held).includes(openDecision) && (
        <Decide item={held} decision={openDecision} onDone={onDone} onClose={() => setOpenDecision(undefined)} />
      )}
    </article>
  );
}

/** The item with the digest of the review that the person reads. Without the review, it can only be rejected. */
function reviewedItem(item: InboxItem, review: MemoryReview | undefined): InboxItem {
  const { payload_digest, payload_view } = review ?? {};
  return { ...item, body: { ...item.body, payload_digest, payload_view, is_review_read: review !== undefined } };
}

/** The item with the whole call, which the list shortens. Undefined until the call is read; other items have none. */
function useHeldItem(item: InboxItem): { held: InboxItem | undefined; error: unknown } {
  const id = item.approval_id ?? '';
  const { payload_digest, edited_payload_digest } = item.body as Partial<Approval>;
  const { data, error } = useQuery({
    // An edit makes another call.
    queryKey: ['approval', id, edited_payload_digest ?? payload_digest],
    queryFn: () => callApi('get', '/v1/approvals/{id}', { params: { id } }),
    enabled: item.kind === 'approval',
    // An open dialog stays, and can say that the call has changed.
    placeholderData: (previous) => (previous?.approval_id === id ? previous : undefined),
  });
  if (item.kind !== 'approval') return { held: item, error: undefined };
  if (!data) return { held: undefined, error };
  const { payload, ...approval } = data;
  return { held: { ...item, body: { ...item.body, ...approval, call: payload } }, error };
}

/** Shows the HTTP request of an agent, which is hard to find in its data. */
function HttpCallLine({ call: heldCall }: { call: unknown }) {
  const { method, url } =
    (heldCall as { input?: { call?: { method?: string; url?: string } } } | undefined)?.input?.call ?? {};
  if (typeof method !== 'string' || typeof url !== 'string') return null;
  return (
    <p>
      <strong>{method}</strong> <code>{url}</code>
    </p>
  );
}

/** Returns the output if it is text; otherwise the whole proposal. */
function proposedText(proposed: unknown): unknown {
  const output = (proposed as { output?: unknown } | null)?.output;
  return typeof output === 'string' ? output : proposed;
}

function EndedAuthorization({ item: { body } }: { item: InboxItem }) {
  const { connector_id: id = '', server, reason } = body as Record<string, string>;
  return (
    <p>
      <bdi>{server}</bdi>: {reason}. <ConnectorLink id={id}>Open connector</ConnectorLink>
    </p>
  );
}

/** Says why the run is paused, and what the two decisions mean. */
function HeldRun({ item: { body } }: { item: InboxItem }) {
  const { name, reason, goal } = body as Record<string, string>;
  return (
    <>
      <p>
        Goal: <bdi>{goal}</bdi>
      </p>
      <p>
        The run acts for <bdi>{name}</bdi>, who has no role that permits it: {reason}. It is paused before its next
        step, and what it had asked for was withdrawn.
      </p>
      <p className="soft">
        To resume it, first give <bdi>{name}</bdi> a role that permits runs: member, editor or an administrator role. To
        end it cancels the run; what it has done stays done.
      </p>
    </>
  );
}

/** Says which server wrote the message, because a server can pretend to be somebody else. */
function Question({ item: { body } }: { item: InboxItem }) {
  const { server, tool, message } = body as Record<string, string>;
  return (
    <>
      <p>
        The MCP server <bdi>{server}</bdi> requests this information for its tool <bdi>{tool}</bdi>. The text has not
        been verified. Do not enter passwords or other secrets.
      </p>
      <blockquote className="text" aria-label="Message from the server">
        <ForeignText text={message ?? ''} />
      </blockquote>
    </>
  );
}

function HeldCall({ item, isRead }: { item: InboxItem; isRead: boolean }) {
  const { call: exactCall, ...body } = item.body as unknown as Approval & { call?: unknown };
  const preview = previewOf(item);
  const nameOf = useNames();
  const names = body.votes.map(({ user_id, decision, comment, at }) => (
    <li key={`${user_id} ${at}`}>
      <bdi>{nameOf(user_id)}</bdi>: {decision} {comment && <q>{comment}</q>}
    </li>
  ));
  return (
    <>
      <p className="summary">
        <strong>
          <bdi>{body.summary}</bdi>
        </strong>
      </p>
      {preview && (
        <p>
          Goal: <bdi>{preview.goal}</bdi>
        </p>
      )}
      <HttpCallLine call={exactCall} />
      {!isRead && <p className="soft">Loading the call…</p>}
      {isRead && exactCall === undefined && <p className="note">Only approvers and auditors can see the call.</p>}
      {isRead && exactCall !== undefined && <ShownCall call={exactCall} preview={preview} />}
      <Facts
        of={{
          'Policy rules': body.policy_ids.join(', '),
          Reason: body.reason,
          Votes: (
            <>
              {body.approvals_given} of {body.required_approvers} approvals
              {names.length > 0 && <ul>{names}</ul>}
            </>
          ),
          'Call SHA-256': <code>{body.payload_digest}</code>,
          Lifecycle: body.lifecycle_id !== null && <LifecycleLink id={body.lifecycle_id} />,
        }}
      />
    </>
  );
}

/** The plain fields of a call first, and then everything. */
function ShownCall({ call: exactCall, preview }: { call: unknown; preview: ReturnType<typeof previewOf> }) {
  if (!preview)
    return (
      <>
        <CallFields call={exactCall} />
        <WholeText text={JSON.stringify(exactCall, null, 2)} label="Exact call" />
      </>
    );
  const proposed = proposedText(preview.proposed);
  const text = typeof proposed === 'string' ? proposed : JSON.stringify(proposed, null, 2);
  return <WholeText text={text} label="Proposed output" />;
}
