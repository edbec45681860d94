import type { ReactNode } from 'react';
import { call, type MemoryReview, type ReviewStatement } from '../api.js';
import { ForeignText } from '../foreign-text.js';
import { LoadOlder, Problem, ScrollTable, Section } from '../parts.js';
import { Time } from '../time.js';
import { usePages } from '../use-pages.js';
import textStyles from '../styles/text.module.css';
import messageStyles from '../styles/message.module.css';

const pageSize = 200;

/** The pages of a review that were read. `review` is undefined until the first one arrives, or for another kind of item. */
export function useMemoryReview(memoryId: string | undefined) {
  const { newest, rows, error, hasOlder, loadOlder, reload } = usePages<MemoryReview>({
    queryKey: ['memory-review', memoryId],
    load: (query) => call('get', '/v1/memories/{memory_id}/review', { params: { memory_id: memoryId ?? '' }, query }),
    counted: ['statement', 'statements'],
    pageSize,
    isEnabled: memoryId !== undefined,
  });
  return {
    review: newest,
    statements: rows ?? [],
    error,
    hasMore: hasOlder,
    loadMore: loadOlder,
    reload: () => void reload(),
  };
}

type Review = ReturnType<typeof useMemoryReview>;

/** Shows everything that approving a memory writes, in words and tables. */
export function MemoryReviewView({ review, statements, error, hasMore, loadMore, reload }: Review) {
  const of = (kind: ReviewStatement['kind']) => statements.filter((each) => each.kind === kind);
  return (
    <>
      <Problem error={error} />
      {review === undefined && Boolean(error) && (
        <p>
          <button type="button" onClick={reload}>
            Read the review again
          </button>
        </p>
      )}
      {review === undefined && !error && <p className={textStyles.soft}>Loading the review…</p>}
      {review && <Outline review={review} />}
      <Replacements rows={of('replacement')} />
      <Entities name="Merged with existing entities" rows={of('merge')} />
      <Entities name="New entities" rows={of('entity')} />
      <NewFacts rows={of('fact')} />
      {review && hasMore && (
        <p className={messageStyles.note}>
          {statements.length} of {review.total_count} statements are shown. Your approval applies to all of them.
        </p>
      )}
      <LoadOlder hasOlder={hasMore} load={loadMore} />
    </>
  );
}

function Outline({ review: { summary, source, found } }: { review: MemoryReview }) {
  const dropped = found.without_span + found.outside_ontology + found.beyond_limit;
  return (
    <>
      <p className={textStyles.summary}>
        <strong>
          <ForeignText text={summary} />
        </strong>
      </p>
      {source !== null && (
        <p>
          Source: <ForeignText text={source} />
        </p>
      )}
      {dropped > 0 && (
        <p className={textStyles.soft}>
          Not written: {found.without_span} statements that the text does not contain, {found.outside_ontology} that the
          ontology does not define, and {found.beyond_limit} beyond the maximum of a part.
        </p>
      )}
    </>
  );
}

interface RowsOptions {
  rows: readonly ReviewStatement[];
}

interface StatementTableOptions extends RowsOptions {
  name: string;
  head: readonly string[];
  cells: (row: ReviewStatement) => readonly ReactNode[];
}

function StatementTable({ name, head, rows, cells }: StatementTableOptions) {
  if (rows.length === 0) return null;
  return (
    <Section title={`${name} (${rows.length})`} level={3}>
      <ScrollTable label={name} head={head}>
        {rows.map((row, at) => (
          <tr key={at}>
            {cells(row).map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </ScrollTable>
    </Section>
  );
}

function Replacements({ rows }: RowsOptions) {
  return (
    <StatementTable
      name="Changes of current facts"
      head={['Subject', 'Fact', 'Now', 'Then']}
      rows={rows}
      cells={({ name, predicate, before, object, valid_from, valid_to }) => [
        <ForeignText text={name} />,
        <ForeignText text={predicate} />,
        before && <Stated object={before.object} from={before.valid_from} to={before.valid_to} />,
        object === null ? 'It ends' : <Stated object={object} from={valid_from} to={valid_to} />,
      ]}
    />
  );
}

function Entities({ name, rows }: RowsOptions & { name: string }) {
  return (
    <StatementTable
      name={name}
      head={['Name', 'Type', 'Becomes part of', 'Other names', 'Properties', 'Quote']}
      rows={rows}
      cells={(row) => [
        <ForeignText text={row.name} />,
        row.type,
        row.joins && <ForeignText text={row.joins.name} />,
        <ForeignText text={row.aliases.join(', ')} />,
        <Properties of={row.properties} />,
        <Quote of={row} />,
      ]}
    />
  );
}

function NewFacts({ rows }: RowsOptions) {
  return (
    <StatementTable
      name="Facts"
      head={['Subject', 'Fact', 'Value', 'Quote']}
      rows={rows}
      cells={(row) => [
        <ForeignText text={row.name} />,
        <ForeignText text={row.predicate} />,
        <Stated object={row.object} from={row.valid_from} to={row.valid_to} />,
        <Quote of={row} />,
      ]}
    />
  );
}

interface StatedOptions {
  object: ReviewStatement['object'];
  from: number | null;
  to: number | null;
}

function Stated({ object, from, to }: StatedOptions) {
  return (
    <>
      <ForeignText text={String(object)} />{' '}
      <span className={textStyles.soft}>
        from <Time at={from} isExact />
        {to !== null && (
          <>
            {' '}
            to <Time at={to} isExact />
          </>
        )}
      </span>
    </>
  );
}

function Properties({ of }: { of: ReviewStatement['properties'] }) {
  return Object.entries(of).map(([name, value]) => (
    <div key={name}>
      <ForeignText text={`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`} />
    </div>
  ));
}

/** The quoted words, and a warning for each value that they do not contain. */
function Quote({ of: { quote, not_in_quote, is_written } }: { of: ReviewStatement }) {
  return (
    <>
      {quote !== null && (
        <q>
          <ForeignText text={quote} />
        </q>
      )}
      {not_in_quote.length > 0 && (
        <strong className={textStyles.bad}>
          {' '}
          Not in the quote: <ForeignText text={not_in_quote.join(', ')} />
        </strong>
      )}
      {!is_written && <span className={textStyles.soft}> Not written: the ontology does not allow it.</span>}
    </>
  );
}
