import { useQuery } from '@tanstack/react-query';
import { call, type Lifecycle, type Syncs as SyncState } from '../api.js';
import { curl } from '../curl.js';
import { pollInterval } from '../news.js';
import { Badge, Empty, Problem, Page, Section, Loaded } from '../parts.js';
import { Time } from '../time.js';
import { LifecycleLink } from '../links.js';
import { quantity } from '../quantity.js';
import { Follow, Unfollow } from './repositories.js';
import { ConfirmButton } from '../confirm.js';
import { usePolled } from '../use-polled.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';

/** No event reports the state of the catalog sync, which only Temporal has, so the page polls. */
const refreshMs = 5000;

export function Syncs() {
  const query = useQuery({
    queryKey: ['syncs'],
    queryFn: () => call('get', '/{projectID}/syncs'),
    refetchInterval: ({ state }) => (state.data?.catalog ? refreshMs : pollInterval({ state })),
  });
  return (
    <Page title="Catalog and code syncs">
      <Loaded query={query}>
        {({ catalog, repositories }) => (
          <>
            <CatalogScope catalog={catalog} />
            <Repositories repositories={repositories} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function CatalogScope({ catalog }: { catalog: SyncState['catalog'] }) {
  return (
    <Section title="Data catalog">
      {catalog === null ? (
        <p className={textStyles.soft}>
          The catalog is not synced into this project. The setting CATALOG_PROJECT_ID of the service selects the project
          that receives it.
        </p>
      ) : (
        <>
          <p role="status">
            <Badge state={catalog.state} /> {catalogText(catalog)}
          </p>
          {catalog.failure !== null && (
            <p className={messageStyles.problem}>The last attempt failed: {catalog.failure}</p>
          )}
          <p className={controlStyles.actions}>
            <ConfirmButton
              operation="post /{projectID}/syncs/catalog"
              button="Start sync…"
              title="Start a catalog sync?"
              action="Start sync"
              act={() => call('post', '/{projectID}/syncs/catalog')}
              invalidates={[['syncs']]}
            >
              <p>The sync reads the whole catalog. It starts after a short delay, to include further changes.</p>
            </ConfirmButton>
          </p>
          <Runs tool="catalog-sync" name="Recent catalog syncs" />
        </>
      )}
    </Section>
  );
}

function catalogText(catalog: NonNullable<SyncState['catalog']>): string {
  const { state, waiting_events: events, waiting_for: names } = catalog;
  const next =
    events === 0 ? '' : `${quantity(events, 'pending change')}${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
  if (state === 'unknown') return 'No worker responds.';
  return state === 'idle' ? 'No pending changes.' : next;
}

function Repositories({ repositories }: { repositories: SyncState['repositories'] }) {
  const command = curl('v1/bind-repository', { repository: 'acme/claims', branch: 'main' });
  return (
    <Section title="Repositories">
      {repositories.length === 0 ? (
        <Empty command={command}>
          This project follows no repositories. Follow one here, or with this command. The key requires the grant
          svc:codesync.write. The response contains the address and the secret of the webhook:
        </Empty>
      ) : (
        <ul className={listStyles.rows}>
          {repositories.map(({ repository, branch, bound_at, has_signed }) => (
            <li key={repository}>
              <strong>
                <bdi>{repository}</bdi>
              </strong>{' '}
              <span className={textStyles.soft}>
                {branch === null ? 'all branches' : `branch ${branch}`}, followed since <Time at={bound_at} isExact />,{' '}
                {has_signed ? 'pushes are signed' : 'no signed push yet'}
              </span>{' '}
              <Unfollow repository={repository} />
            </li>
          ))}
        </ul>
      )}
      <Follow />
      <Runs tool="code-sync" name="Recent pushes" />
    </Section>
  );
}

/** Lists the last runs of a sync, each with its lifecycle. */
function Runs({ tool, name }: { tool: string; name: string }) {
  const { data, error } = usePolled(['sync-runs', tool], () =>
    call('get', '/v1/lifecycles', { query: { tool, limit: 20 } }),
  );
  return (
    <>
      <h3>{name}</h3>
      <Problem error={error} />
      {data?.data.length === 0 && <p className={textStyles.soft}>None yet.</p>}
      <ul className={listStyles.rows}>
        {data?.data.map((run) => (
          <li key={run.lifecycle_id}>
            <Badge state={run.status} />{' '}
            <LifecycleLink id={run.lifecycle_id}>
              <Time at={run.created_at} />
            </LifecycleLink>{' '}
            <span className={run.status === 'failed' ? textStyles.bad : textStyles.soft}>{detailOf(run)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Says what the run did, or why it failed. */
const detailOf = ({ stages }: Lifecycle) => stages.at(-1)?.detail ?? '';
