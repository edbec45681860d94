import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call, type Lifecycle } from '../api.js';
import { Facts } from '../facts.js';
import { ApprovalLink, LifecycleLink, RunLink } from '../links.js';
import { pollInterval } from '../news.js';
import { Badge, durationText, Problem, Time } from '../parts.js';
import { projectId, useMay } from '../session.js';
import { useTitle } from '../use-title.js';
import { Caller } from './lifecycles.js';

const route = getRouteApi('/projects/$projectId/lifecycles/$lifecycleId');

/** The stages of every governed call, in order. */
const stages = [
  'S1:authenticate',
  'S2:resolve-scope',
  'S3:rate-quota',
  'S4:validate-input',
  'S5:policy',
  'S6:approval',
  'S7:dry-run',
  'S8:execute',
];

/** Shows one governed call: its stages, its decision and its entry in the audit chain. */
export function LifecyclePage() {
  const { lifecycleId: id } = route.useParams();
  const { data: lifecycle, error } = useQuery({
    queryKey: ['lifecycle', id],
    queryFn: () => call('get', '/v1/lifecycles/{id}', { params: { id } }),
    // A held call changes when somebody decides it.
    refetchInterval: (query) => (query.state.data?.status === 'pending_approval' ? pollInterval(query) : false),
  });
  useTitle(`Lifecycle ${lifecycle?.tool ?? ''}`);
  if (!lifecycle)
    return (
      <>
        <h1>Lifecycle</h1>
        {error ? <Problem error={error} /> : <p className="soft">Loading…</p>}
      </>
    );
  const { tool, status, decision } = lifecycle;
  return (
    <>
      <h1>{tool}</h1>
      <p role="status">
        <span className="hidden">State: </span>
        <Badge state={status} />
      </p>
      <Problem error={error} />
      <section aria-labelledby="stages">
        <h2 id="stages">Stages</h2>
        <StageList lifecycle={lifecycle} />
      </section>
      <section aria-labelledby="call">
        <h2 id="call">Call</h2>
        <About lifecycle={lifecycle} />
      </section>
      {decision && (
        <section aria-labelledby="decision">
          <h2 id="decision">Policy decision</h2>
          <p>
            <Badge state={decision.decision} />
          </p>
          <Facts
            rows={[
              ['Rules', decision.policy_ids.join(', ')],
              ['Policy version', decision.policy_version],
              ['Time', <Time key="at" at={decision.at} />],
              ['Decision id', <code key="id">{decision.decision_id}</code>],
            ]}
          />
        </section>
      )}
      <AuditEntry id={id} />
    </>
  );
}

const signs: Record<string, string> = { ok: '✓', failed: '✕', 'not reached': '–' };

/** Shows all eight stages, including those that the call did not reach. */
function StageList({ lifecycle: { stages: reached } }: { lifecycle: Lifecycle }) {
  return (
    <ol className="strip">
      {stages.map((stage) => {
        const found = reached.find(({ stage: name }) => name === stage);
        const outcome = found?.status ?? 'not reached';
        const [number, name] = stage.split(':');
        return (
          <li key={stage} className={outcome.replace(' ', '-')}>
            <strong>{number}</strong> <span>{name}</span>{' '}
            <span className="outcome">
              <span aria-hidden="true">{signs[outcome]}</span> {outcome}
            </span>
            {found && found.detail !== '' && <span className="detail">{found.detail}</span>}
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
    <Facts
      rows={[
        ['Lifecycle', <code key="id">{lifecycle_id}</code>],
        [
          'Time',
          <span key="at">
            <Time at={created_at} /> (took {durationText(ended_at - created_at)})
          </span>,
        ],
        ['Caller', <Caller key="caller" principal={principal} />],
        ['Run', execution_id && <RunLink key="run" id={execution_id} />],
        ['API key', key_id],
        ['OAuth client', client_id],
        ['Outcome of the action', act?.outcome],
        ['Payload SHA-256', payload_digest === null ? 'Not validated' : <code key="sha">{payload_digest}</code>],
        ['Trace id', <code key="trace">{trace_id}</code>],
        ['Entities returned', consumed.length],
        ['Approval', approval_id && <ApprovalLink key="approval" id={approval_id} />],
        ['Executed by', lifecycle.continued_by && <LifecycleLink key="next" id={lifecycle.continued_by} />],
      ]}
    />
  );
}

/** Links to the audit entry, for people who may read the organization's chain. */
function AuditEntry({ id }: { id: string }) {
  const may = useMay();
  const isOffered = may('get /v1/audit');
  const { data, error } = useQuery({
    queryKey: ['audit', 'of', id],
    queryFn: () => call('get', '/v1/audit', { query: { lifecycle_id: id, limit: 1 } }),
    enabled: isOffered,
  });
  if (!isOffered) return null;
  const [entry] = data?.data ?? [];
  return (
    <section aria-labelledby="entry">
      <h2 id="entry">Audit entry</h2>
      <Problem error={error} />
      {data && !entry && <p className="note">The audit chain contains no entry for this call.</p>}
      {entry && (
        <Facts
          rows={[
            ['Entry', entry.seq],
            ['Actor', entry.actor_name],
            ['Action', `${entry.action}: ${entry.outcome}`],
            ['Resource', entry.resource],
            ['Hash', <code key="hash">{entry.hash}</code>],
            ['Previous hash', <code key="before">{entry.prev_hash}</code>],
          ]}
        />
      )}
      <p>
        <Link to="/projects/$projectId/audit" params={{ projectId }}>
          Verify the audit chain
        </Link>
      </p>
    </section>
  );
}
