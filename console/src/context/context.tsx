import { useState } from 'react';
import { call, type ContextAnswer } from '../api.js';
import { curl } from '../curl.js';
import { LazyGraph } from '../graph/lazy-graph.js';
import { LifecycleLink } from '../links.js';
import { Field, Form, TextField, SelectField } from '../field.js';
import { ActionButton, Data, Empty, Page, Section } from '../parts.js';
import { useDraft } from '../use-draft.js';
import { fromLocalInput } from '../schedules/schedule.js';
import { quantity } from '../quantity.js';
import { useSubmit } from '../use-submit.js';
import { Entities, EntityDrawer, Facts, Relationships } from './tables.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';
import controlStyles from '../styles/controls.module.css';
import formStyles from '../styles/form.module.css';

type Answer = ContextAnswer & { lifecycle_id: string };

const limits = [25, 50, 100, 200];

/** Queries the context graph of the project by a question or by Cypher. */
export function Context() {
  const [query, setQuery] = useDraft('context');
  const [limit, setLimit] = useState(25);
  const [asOf, setAsOf] = useDraft('context.as-of');
  const [answer, setAnswer] = useState<Answer>();
  const { error, isBusy, submit } = useSubmit(async () => {
    const at = fromLocalInput(asOf);
    const body = { query, limit, explain: true, timeout_ms: 30_000, ...(at !== undefined && { as_of: at }) };
    // Without `dry_run`, the API always returns a result.
    setAnswer((await call('post', '/v1/query-context', { body })) as Answer);
  });
  return (
    <Page title="Context">
      <Form error={error} onSubmit={() => void submit()}>
        <Field label="Question or Cypher query" name="query">
          {(control) => (
            <textarea
              {...control}
              className={textStyles.code}
              rows={4}
              maxLength={20_000}
              value={query}
              placeholder="Which products does Acme own?"
              onChange={(event) => setQuery(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
                  event.currentTarget.form?.requestSubmit();
              }}
            />
          )}
        </Field>
        <p className={textStyles.soft}>
          A Cypher query filters by <code>project_id = $project_id</code>, for example{' '}
          <code>{'MATCH (n:Entity)-[r]->(m) WHERE n.project_id = $project_id RETURN n, r, m'}</code>
        </p>
        <div className={formStyles.filter}>
          <SelectField
            label="Limit"
            value={String(limit)}
            options={limits.map((each) => ({ value: String(each) }))}
            onChange={(value) => setLimit(Number(value))}
          />
          <TextField
            label="As of (optional)"
            title="Shows what was valid at this local time."
            type="datetime-local"
            step={1}
            text={asOf}
            onChange={setAsOf}
          />
          <button className={buttonStyles.primary} disabled={isBusy}>
            {isBusy ? 'Searching…' : 'Search'}
          </button>
        </div>
      </Form>
      {answer && <Result key={answer.lifecycle_id} answer={answer} />}
    </Page>
  );
}

function Result({ answer }: { answer: Answer }) {
  const { entities, relationships, facts, rows, truncated, lifecycle_id } = answer;
  const [open, setOpen] = useState<string>();
  const [isGraph, setGraph] = useState(false);
  const counts = [
    [entities.length, 'entity', 'entities'],
    [relationships.length, 'relationship', 'relationships'],
    [facts.length, 'fact', 'facts'],
    [rows.length, 'row', 'rows'],
  ] as const;
  const isEmpty = counts.every(([count]) => count === 0);
  const opened = entities.find(({ id }) => id === open);
  return (
    <Section title="Results">
      <p role="status">
        {counts.map(([count, one, several]) => quantity(count, one, several)).join(', ')}
        {truncated && '; more results exist'}. <LifecycleLink id={lifecycle_id}>Lifecycle of the call</LifecycleLink>
      </p>
      {isEmpty && <NothingFound />}
      {entities.length > 0 && (
        <>
          <div className={controlStyles.actions} role="group" aria-label="View as">
            <ActionButton name="Table" isPressed={!isGraph} onClick={() => setGraph(false)} />
            <ActionButton name="Graph" isPressed={isGraph} onClick={() => setGraph(true)} />
          </div>
          {isGraph ? (
            <LazyGraph
              label="Entities and their relationships"
              nodes={entities.map(({ id, name, type }) => ({ id, title: name || id, detail: type }))}
              edges={relationships.map(({ from, to, type }) => ({ from, to, label: type }))}
              onSelect={setOpen}
            />
          ) : (
            <Entities answer={answer} onOpen={setOpen} />
          )}
        </>
      )}
      {!isGraph && relationships.length > 0 && <Relationships answer={answer} />}
      {!isGraph && facts.length > 0 && <Facts answer={answer} />}
      {rows.length > 0 && (
        <Section title="Rows" level={3}>
          <Data value={rows} label="Rows" />
        </Section>
      )}
      <Explanation answer={answer} />
      {opened && <EntityDrawer entity={opened} answer={answer} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}

function Explanation({ answer: { explanation } }: { answer: Answer }) {
  if (!explanation) return null;
  const { vectors, reranking } = explanation;
  return (
    <p className={textStyles.soft}>
      Found by full-text search{vectors.used && ' and vectors'}
      {vectors.reason !== null && `; vectors: ${vectors.reason}`}.{' '}
      {reranking.used ? `Reranked by ${reranking.model}.` : `Not reranked: ${reranking.reason}.`}
    </p>
  );
}

function NothingFound() {
  const command = curl('v1/save-context', { entities: [{ id: 'acme', type: 'Company', name: 'Acme' }] });
  return (
    <Empty command={command}>The context graph contains no matching data. To save an entity, use this command:</Empty>
  );
}
