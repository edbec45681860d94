import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type CSSProperties } from 'react';
import { call } from '../api.js';
import { ConfirmButton } from '../confirm.js';
import { ActionButton, Empty, Loaded, Page, Problem } from '../parts.js';
import { useMay } from '../session.js';
import { Time } from '../time.js';
import { useSubmit } from '../use-submit.js';
import { Views } from '../views.js';
import { EditWidget } from './edit-widget.js';
import type { Cell, Layout, Widget } from './widget-data.js';
import { WidgetView } from './widget-view.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';
import styles from './dashboard.module.css';

const queryKey = ['dashboard'] as const;

export function Dashboard() {
  const query = useQuery({ queryKey, queryFn: () => call('get', '/dashboard/{projectID}') });
  return (
    <Page title="Dashboard">
      <Loaded query={query}>{(layout) => <Widgets layout={layout} />}</Loaded>
    </Page>
  );
}

function Widgets({ layout }: { layout: Layout }) {
  const may = useMay();
  const [chosen, choose] = useState<string>();
  const [isAdding, setAdding] = useState(false);
  const tab = layout.tabs.find(({ id }) => id === chosen) ?? layout.tabs[0];
  return (
    <>
      <div className={controlStyles.toolbar}>
        {layout.description !== '' && <p>{layout.description}</p>}
        <Refresh />
        {may('post /dashboard/{projectID}/component') && (
          <ActionButton name="New widget…" className={buttonStyles.primary} onClick={() => setAdding(true)} />
        )}
      </div>
      {tab && (
        <Views
          label="Tabs of the dashboard"
          names={Object.fromEntries(layout.tabs.map(({ id, name }) => [id, name]))}
          selected={tab.id}
          onSelect={choose}
        >
          {(id) => <Tab layout={layout} tabId={id} />}
        </Views>
      )}
      {isAdding && <EditWidget layout={layout} tabId={tab?.id} onClose={() => setAdding(false)} />}
    </>
  );
}

/** Computes all widgets again, because the dashboard shows the results of its last refresh. */
function Refresh() {
  const may = useMay();
  const queries = useQueryClient();
  const { error, isBusy, submit } = useSubmit(async (options) => {
    queries.setQueryData(queryKey, await call('post', '/dashboard/refresh/{projectID}', {}, options));
  });
  if (!may('post /dashboard/refresh/{projectID}')) return null;
  return (
    <>
      <Problem error={error} />
      <ActionButton name={isBusy ? 'Refreshing…' : 'Refresh data'} onClick={() => void submit()} />
    </>
  );
}

function Tab({ layout, tabId }: { layout: Layout; tabId: string }) {
  const cells = layout.position
    .filter(({ tab_id }) => tab_id === tabId)
    .toSorted((one, other) => one.y - other.y || one.x - other.x);
  const placed = cells.flatMap((cell) => {
    const widget = layout.components.find(({ component_id }) => component_id === cell.i);
    return widget ? [{ cell, widget }] : [];
  });
  if (placed.length === 0) return <Empty>This tab has no widgets.</Empty>;
  return (
    <div className={styles.grid}>
      {placed.map(({ cell, widget }) => (
        <PlacedWidget key={widget.component_id} {...{ layout, cell, widget }} />
      ))}
    </div>
  );
}

const columns = 12;

function PlacedWidget({ layout, cell, widget }: { layout: Layout; cell: Cell; widget: Widget }) {
  const may = useMay();
  const [isEditing, setEditing] = useState(false);
  const { component_id, title, subTitle, user_query, refreshed_at } = widget;
  const from = Math.min(cell.x, columns - 1) + 1;
  const wide = Math.min(cell.w, columns + 1 - from);
  const name = title || 'Widget without a title';
  return (
    <section
      className={styles.widget}
      aria-label={name}
      style={{ '--from': String(from), '--wide': String(wide) } as CSSProperties}
    >
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <p className={textStyles.soft}>
        {subTitle && <bdi>{subTitle} · </bdi>}
        Refreshed <Time at={refreshed_at} />
      </p>
      {user_query && (
        <p>
          <bdi>{user_query}</bdi>
        </p>
      )}
      <WidgetView widget={widget} />
      {may('delete /dashboard/{projectID}/component/{component_id}') && (
        <p className={controlStyles.actions}>
          {may('post /dashboard/{projectID}/component') && (
            <ActionButton
              name="Edit…"
              aria-label={`Edit ${name}…`}
              className={buttonStyles.small}
              onClick={() => setEditing(true)}
            />
          )}
          <ConfirmButton
            button="Delete…"
            buttonName={`Delete ${name}…`}
            className={buttonStyles.small}
            title={`Delete ${name}?`}
            action="Delete widget"
            isFinal
            act={() => call('delete', '/dashboard/{projectID}/component/{component_id}', { params: { component_id } })}
            invalidates={[queryKey]}
          >
            <p>The data that it shows is not deleted. The widget cannot be restored.</p>
          </ConfirmButton>
        </p>
      )}
      {isEditing && (
        <EditWidget layout={layout} tabId={widget.tab_id} before={{ widget, cell }} onClose={() => setEditing(false)} />
      )}
    </section>
  );
}
