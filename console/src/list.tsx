import type { ReactNode } from 'react';
import type { Page } from '@client/page.js';
import { FilterForm, type FilterFormOptions } from './filter-form.js';
import { Empty, Problem, Loading } from './parts.js';
import { Table, type Column } from './table.js';
import { usePages, type PagesOptions } from './use-pages.js';
import controlStyles from './styles/controls.module.css';

interface ListOptions<T, Name extends string> {
  /** The accessible name of the table. */
  name: string;
  /** The singular and the plural noun for the count. */
  counted: PagesOptions<Page<T>>['counted'];
  queryKey: readonly unknown[];
  load: PagesOptions<Page<T>>['load'];
  columns: readonly Column<T>[];
  keyOf(row: T): string;
  /** Rendered if the list is empty, and the person has not filtered it. */
  empty: ReactNode;
  /** Says which records this person does not see, if the API leaves some out. Rendered with the list and without rows. */
  limit?: ReactNode;
  filters?: Omit<FilterFormOptions<Name>, 'error'>;
  /** Rendered next to the count. */
  tools?: ReactNode;
}

/**
 * Renders a list of the API, newest first. It loads older rows as they scroll into view, and refreshes the newest rows
 * after changes.
 */
export function List<T, Name extends string = never>(props: ListOptions<T, Name>) {
  const { name, columns, keyOf, empty, limit, filters, tools, ...pages } = props;
  const { rows, total, count, error, hasOlder, isStuck, loadOlder } = usePages(pages);
  return (
    <>
      {filters ? <FilterForm {...filters} error={error} /> : <Problem error={error} />}
      <div className={controlStyles.toolbar}>
        <p role="status">{count}</p>
        {tools}
      </div>
      {limit}
      {rows === undefined && !error && <Loading />}
      {rows?.length === 0 &&
        (Object.keys(filters?.filter ?? {}).length === 0 ? (
          empty
        ) : (
          <Empty>No {pages.counted[1]} match these filters.</Empty>
        ))}
      {rows && rows.length > 0 && (
        <Table
          key={JSON.stringify(pages.queryKey)}
          name={name}
          rows={rows}
          columns={columns}
          keyOf={keyOf}
          total={total}
          hasOlder={hasOlder}
          isStuck={isStuck}
          onEnd={loadOlder}
        />
      )}
    </>
  );
}
