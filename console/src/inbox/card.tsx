import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call, capitalized, type InboxItem } from '../api.js';
import { ForeignText } from '../foreign-text.js';
import { ConnectorLink, RunLink } from '../links.js';
import { Badge, Problem } from '../parts.js';
import { Time } from '../time.js';
import { roleName } from '../roles.js';
import { useMay } from '../session.js';
import messageStyles from '../styles/message.module.css';
import textStyles from '../styles/text.module.css';
import { useNames } from '../use-names.js';
import { ApprovalView } from './approval-view.js';
import { ViewNote } from './call-view.js';
import { kindText } from '../words/words.js';
import styles from './card.module.css';
import { Decide, DecisionButtons } from './decide.js';
import { decisionsOf, type Decided, type Decision } from './decision.js';
import { MemoryReviewView, useMemoryReview } from './memory-review.js';
import { useSeen, type Subject } from './subject.js';

interface DecisionOptions {
  onDone: (decided: Decided) => Promise<unknown>;
  isOnRun?: boolean;
  /** A decision that the person chose by a keyboard shortcut. */
  decision?: Decision | undefined;
  onDecision?: (decision: Decision | undefined) => void;
}

/** Shows one inbox item: exactly what would happen, the votes so far, and the buttons to decide. */
export function InboxCard({ item, ...decision }: { item: InboxItem } & DecisionOptions) {
  const memory = useMemoryReview(item.kind === 'memory' ? item.body.memory_id : undefined);
  const { approval, error } = useApprovalOf(item);
  return (
    <Card subject={{ item, approval, review: memory.review }} {...decision}>
      <Problem error={error} />
      {item.kind === 'memory' && <MemoryReviewView {...memory} />}
    </Card>
  );
}

/** Reads the whole approval, whose call the item shortens. */
function useApprovalOf(item: InboxItem) {
  const body = item.kind === 'approval' ? item.body : undefined;
  const id = item.approval_id ?? '';
  const { data, error } = useQuery({
    // An edit makes another call.
    queryKey: ['approval', id, body?.edited_payload_digest ?? body?.payload_digest],
    queryFn: () => call('get', '/v1/approvals/{id}', { params: { id } }),
    enabled: body !== undefined,
    // An open dialog stays, and can say that the call has changed.
    placeholderData: (previous) => (previous?.approval_id === id ? previous : undefined),
  });
  return { approval: data, error };
}

interface CardOptions extends DecisionOptions {
  subject: Subject;
  /** What is shown after the item itself. */
  children?: ReactNode;
}

export function Card(props: CardOptions) {
  const { onDone, isOnRun = false, decision: decisionByKey, onDecision, children } = props;
  const { subject, isChanged, showChanged } = useSeen(props.subject);
  const { item, approval, review } = subject;
  const [ownDecision, setOwnDecision] = useState<Decision>();
  const [openDecision, setOpenDecision] = onDecision ? [decisionByKey, onDecision] : [ownDecision, setOwnDecision];
  const { title, execution_id, status } = item;
  const isRead = item.kind !== 'approval' || approval !== undefined;
  const mayDecide = useMay()('post /inbox/{id}/reply') && item.may_decide && isRead && !isChanged;
  // An open dialog stays if somebody else decides in the meantime. The answer then says so.
  const isAsking = openDecision !== undefined && isRead && decisionsOf(subject).includes(openDecision);
  return (
    <article className={styles.card} aria-label={title}>
      <Heading item={item} />
      {isChanged && (
        <p className={messageStyles.note} role="alert">
          This changed after you opened it. You see the earlier text, on which nobody can decide any more.{' '}
          <button type="button" onClick={showChanged}>
            Show the changed text
          </button>
        </p>
      )}
      <WaitsFor item={item} />
      <ApprovalView subject={subject} />
      {item.kind === 'elicitation' && <Question body={item.body} />}
      {item.kind === 'question' && (
        <blockquote className={textStyles.box} aria-label="Question">
          <ForeignText text={item.body.message} />
        </blockquote>
      )}
      {item.kind === 'authorization' && <EndedAuthorization body={item.body} />}
      {item.kind === 'run' && <HeldRun body={item.body} />}
      {children}
      {execution_id !== null && !isOnRun && (
        <p>
          <RunLink id={execution_id}>Open run</RunLink>
        </p>
      )}
      {mayDecide && (
        <div className={styles.decision}>
          <ViewNote view={approval?.payload_view ?? review?.payload_view} />
          <DecisionButtons subject={subject} onChoose={setOpenDecision} />
        </div>
      )}
      {!mayDecide && !isChanged && status === 'waiting' && item.may_not_decide_reason !== null && (
        <p className={messageStyles.note}>{capitalized(item.may_not_decide_reason)}.</p>
      )}
      {isAsking && (
        <Decide
          subject={subject}
          isChanged={isChanged}
          decision={openDecision}
          onDone={onDone}
          onClose={() => setOpenDecision(undefined)}
        />
      )}
    </article>
  );
}

function Heading({ item }: { item: InboxItem }) {
  const { status, created_at, expires_at } = item;
  return (
    <p>
      <Badge state={status} /> {kindText(item)}, asked <Time at={created_at} />
      {expires_at !== null && (
        <>
          , until <Time at={expires_at} isExact />
        </>
      )}
    </p>
  );
}

/** Names the people who decide, if the item names them. */
function WaitsFor({ item }: { item: InboxItem }) {
  const nameOf = useNames();
  if (item.status !== 'waiting') return null;
  const to = item.kind === 'question' ? item.body.to : null;
  const roles = to?.roles ?? (item.kind === 'approval' ? item.body.approver_roles : null) ?? [];
  const people = [
    ...(to?.people ?? []).map(nameOf),
    ...roles.map((role) => `somebody with the role ${roleName(role)}`),
  ];
  if (people.length === 0) return null;
  return (
    <p className={textStyles.soft}>
      Waiting for <bdi>{people.join(' or ')}</bdi>
    </p>
  );
}

type BodyOf<Kind extends InboxItem['kind']> = Extract<InboxItem, { kind: Kind }>['body'];

function EndedAuthorization({ body: { connector_id, server, reason } }: { body: BodyOf<'authorization'> }) {
  return (
    <p>
      <bdi>{server}</bdi>: {reason}. <ConnectorLink id={connector_id}>Open connector</ConnectorLink>
    </p>
  );
}

/** Says why the run is paused, and what the two decisions mean. */
function HeldRun({ body: { name, reason, goal } }: { body: BodyOf<'run'> }) {
  return (
    <>
      <p>
        Goal: <bdi>{goal}</bdi>
      </p>
      <p>
        The run acts for <bdi>{name}</bdi>, who has no role that permits it: {reason}. It is paused before its next
        step, and what it had asked for was withdrawn.
      </p>
      <p className={textStyles.soft}>
        To resume it, first give <bdi>{name}</bdi> a role that permits runs: member, editor or an administrator role. To
        end it cancels the run; what it has done stays done.
      </p>
    </>
  );
}

/** Says which server wrote the message, because a server can pretend to be somebody else. */
function Question({ body: { server, tool, message } }: { body: BodyOf<'elicitation'> }) {
  return (
    <>
      <p>
        The MCP server <bdi>{server}</bdi> requests this information for its tool <bdi>{tool}</bdi>. The text has not
        been verified. Do not enter passwords or other secrets.
      </p>
      <blockquote className={textStyles.box} aria-label="Message from the server">
        <ForeignText text={message} />
      </blockquote>
    </>
  );
}
