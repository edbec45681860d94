import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call, inWords, type Lifecycle } from '../api.js';
import { Facts } from '../facts.js';
import { ApprovalLink, LifecycleLink, RunLink } from '../links.js';
import { pollInterval } from '../news.js';
import { Badge, durationText, Problem, Page, Section, Loaded, StateLine } from '../parts.js';
import { Time } from '../time.js';
import { useMay } from '../session.js';
import { Caller } from './lifecycles.js';
import messageStyles from '../styles/message.module.css';
import { stageWords } from '../words/operations.js';
import { useResourceText } from '../words/use-resource-text.js';
import { operationText, stageText } from '../words/words.js';
import styles from './stages.module.css';

const route = getRouteApi('/lifecycles/$lifecycleId');

const readLifecycle = (id: string) => call('get', '/v1/lifecycles/{id}', { params: { id } });
type FullLifecycle = Awaited<ReturnType<typeof readLifecycle>>;

const stages = Object.keys(stageWords);

export function LifecyclePage() {
  const { lifecycleId: id } = route.useParams();
  const query = useQuery({
    queryKey: ['lifecycle', id],
    queryFn: () => readLifecycle(id),
    // A held call changes when somebody decides it.
    refetchInterval: ({ state }) => (state.data?.status === 'pending_approval' ? pollInterval({ state }) : false),
  });
  const tool = query.data?.tool;
  return (
    <Page title={tool === undefined ? 'Call' : operationText(tool)}>
      <Loaded query={query}>
        {(lifecycle) => (
          <>
            <StateLine state={lifecycle.status} />
            <Section title="Stages">
              <StageList lifecycle={lifecycle} />
            </Section>
            <Section title="Call">
              <About lifecycle={lifecycle} />
            </Section>
            {lifecycle.decision && <Decision decision={lifecycle.decision} />}
            <AuditEntry id={id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Decision({ decision }: { decision: NonNullable<FullLifecycle['decision']> }) {
  return (
    <Section title="Policy decision">
      <p>
        <Badge state={decision.decision} />
      </p>
      <Facts
        of={{
          Rules: decision.policy_ids.join(', '),
          'Policy version': decision.policy_version,
          Time: <Time at={decision.at} isExact />,
        }}
      />
      <details>
        <summary>Details</summary>
        <Facts of={{ 'Decision id': <code>{decision.decision_id}</code> }} />
      </details>
    </Section>
  );
}

const signs: Record<string, string> = { ok: '✓', failed: '✕', 'not reached': '–' };
const outcomeClasses: Record<string, string> = { failed: 'failed', 'not reached': 'notReached' };

/** Shows all eight stages, including those that the call did not reach. */
function StageList({ lifecycle: { stages: reached } }: { lifecycle: Lifecycle }) {
  return (
    <ol className={styles.stages}>
      {stages.map((stage) => {
        const found = reached.find(({ stage: name }) => name === stage);
        const outcome = found?.status ?? 'not reached';
        return (
          <li key={stage} className={styles[outcomeClasses[outcome] ?? 'ok']}>
            <strong>{stageText(stage)}</strong>{' '}
            <span className={styles.outcome}>
              <span aria-hidden="true">{signs[outcome]}</span> {outcome}
            </span>
            {found && found.detail !== '' && <span className={styles.detail}>{found.detail}</span>}
          </li>
        );
      })}
    </ol>
  );
}

function About({ lifecycle }: { lifecycle: Lifecycle }) {
  const { lifecycle_id, created_at, ended_at, principal, payload_digest, trace_id, approval_id, consumed, act } =
    lifecycle;
  const { execution_id, key_id, client_id } = principal;
  return (
    <>
      <Facts
        of={{
          Time: (
            <span>
              <Time at={created_at} isExact /> (took {durationText(ended_at - created_at)})
            </span>
          ),
          Caller: <Caller principal={principal} />,
          Run: execution_id && <RunLink id={execution_id} />,
          'Outcome of the action': act?.outcome,
          'Entities returned': consumed.length,
          Approval: approval_id && <ApprovalLink id={approval_id} />,
          'Executed by': lifecycle.continued_by && <LifecycleLink id={lifecycle.continued_by} />,
        }}
      />
      <details>
        <summary>Details</summary>
        <Facts
          of={{
            Operation: <code>{lifecycle.tool}</code>,
            Lifecycle: <code>{lifecycle_id}</code>,
            'API key': key_id && <code>{key_id}</code>,
            'OAuth client': client_id && <code>{client_id}</code>,
            'Payload SHA-256': payload_digest === null ? 'Not validated' : <code>{payload_digest}</code>,
            'Trace id': <code>{trace_id}</code>,
          }}
        />
      </details>
    </>
  );
}

/** Links to the audit entry, for people who may read the organization's chain. */
function AuditEntry({ id }: { id: string }) {
  const may = useMay();
  const isOffered = may('get /v1/audit');
  const resourceOf = useResourceText();
  const { data, error } = useQuery({
    queryKey: ['audit', 'of', id],
    queryFn: () => call('get', '/v1/audit', { query: { lifecycle_id: id, limit: 1 } }),
    enabled: isOffered,
  });
  if (!isOffered) return null;
  const [entry] = data?.data ?? [];
  return (
    <Section title="Audit entry">
      <Problem error={error} />
      {data && !entry && <p className={messageStyles.note}>The audit chain contains no entry for this call.</p>}
      {entry && (
        <>
          <Facts
            of={{
              Entry: entry.seq,
              Actor: <bdi>{entry.actor_name}</bdi>,
              Action: `${operationText(entry.action)}: ${inWords(entry.outcome)}`,
              Resource: <bdi>{resourceOf(entry.resource)}</bdi>,
            }}
          />
          <details>
            <summary>Details</summary>
            <Facts
              of={{
                Action: <code>{entry.action}</code>,
                Resource: <code>{entry.resource}</code>,
                Hash: <code>{entry.hash}</code>,
                'Previous hash': <code>{entry.prev_hash}</code>,
              }}
            />
          </details>
        </>
      )}
      <p>
        <Link to="/audit">Verify the audit chain</Link>
      </p>
    </Section>
  );
}
