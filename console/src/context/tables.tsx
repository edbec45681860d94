import type { ContextAnswer } from '../api.js';
import { Facts as FactList } from '../facts.js';
import { LifecycleLink, RunLink } from '../links.js';
import { Data, Window } from '../parts.js';
import { Time } from '../time.js';
import { column, Table, type Column, timeColumn } from '../table.js';
import { useNames } from '../use-names.js';
import textStyles from '../styles/text.module.css';
import buttonStyles from '../styles/button.module.css';

type Entity = ContextAnswer['entities'][number];
type Relationship = ContextAnswer['relationships'][number];
type Fact = ContextAnswer['facts'][number];
type Provenance = Entity['provenance'];
type Parts = NonNullable<ContextAnswer['explanation']>['scores'][number];

const nothing = () => undefined;

function Part<T>(props: { name: string; rows: readonly T[]; columns: readonly Column<T>[]; keyOf(row: T): string }) {
  const { name, rows, columns, keyOf } = props;
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <Table {...{ name, rows, columns, keyOf }} total={rows.length} hasOlder={false} onEnd={nothing} />
    </section>
  );
}

/** Returns the columns that show an element's origin: its source, who saved it, and when. */
function origin<T extends { provenance: Provenance }>(nameOf: (id: string) => string): Column<T>[] {
  return [
    column('Source', { width: 'minmax(7rem, 1fr)', onNarrow: 'hidden' }, ({ provenance: { source, saved_by } }) => (
      <bdi>{source ?? (saved_by === null ? '' : nameOf(saved_by))}</bdi>
    )),
    timeColumn('Recorded', ({ provenance }) => provenance.recorded_at, 'hidden'),
  ];
}

const partNames = [
  ['text', 'full text'],
  ['vector', 'vectors'],
  ['names', 'names'],
  ['time', 'time'],
  ['neighbours', 'neighbours'],
] as const;

const partsOf = ({ explanation }: ContextAnswer, { id, project_id }: Entity): Parts | undefined =>
  explanation?.scores.find((parts) => parts.id === id && parts.project_id === project_id);

function partsText(parts: Parts | undefined): string {
  const scores = partNames.flatMap(([part, name]) => (parts?.[part] ? [`${name} ${parts[part].toFixed(2)}`] : []));
  return scores.join(', ');
}

export function Entities({ answer, onOpen }: { answer: ContextAnswer; onOpen: (id: string) => void }) {
  const nameOf = useNames();
  const columns: readonly Column<Entity>[] = [
    column('Entity', { width: 'minmax(10rem, 2fr)', onNarrow: 'main' }, ({ id, name }) => (
      <button type="button" className={buttonStyles.plain} onClick={() => onOpen(id)}>
        <bdi>{name || id}</bdi>
      </button>
    )),
    column('Type', { width: 'minmax(6rem, 1fr)' }, ({ type }) => type),
    column('Score', { width: '5rem' }, ({ score }) => score.toFixed(2)),
    column('Score components', { width: 'minmax(10rem, 2fr)', onNarrow: 'hidden' }, (entity) => (
      <span title={partsText(partsOf(answer, entity))}>{partsText(partsOf(answer, entity))}</span>
    )),
    ...origin<Entity>(nameOf),
  ];
  return (
    <Part
      name="Entities"
      rows={answer.entities}
      columns={columns}
      keyOf={({ id, project_id }) => `${project_id} ${id}`}
    />
  );
}

/**
 * Returns a function that names an end of a relationship or fact. It falls back to the id if the result lacks the
 * entity.
 */
const namesIn = ({ entities }: ContextAnswer) => {
  const names = new Map(entities.map(({ id, name }) => [id, name || id]));
  return (id: string) => names.get(id) ?? id;
};

export function Relationships({ answer }: { answer: ContextAnswer }) {
  const nameOf = useNames();
  const endOf = namesIn(answer);
  const columns: readonly Column<Relationship>[] = [
    column('From', { width: 'minmax(8rem, 1fr)' }, ({ from }) => <bdi>{endOf(from)}</bdi>),
    column('Relationship', { width: 'minmax(8rem, 1fr)', onNarrow: 'main' }, ({ type }) => type),
    column('To', { width: 'minmax(8rem, 1fr)' }, ({ to }) => <bdi>{endOf(to)}</bdi>),
    ...origin<Relationship>(nameOf),
  ];
  return <Part name="Relationships" rows={answer.relationships} columns={columns} keyOf={({ id }) => id} />;
}

export function Facts({ answer }: { answer: ContextAnswer }) {
  const nameOf = useNames();
  const endOf = namesIn(answer);
  const columns: readonly Column<Fact>[] = [
    column('Subject', { width: 'minmax(8rem, 1fr)' }, ({ subject }) => <bdi>{endOf(subject)}</bdi>),
    column('Fact', { width: 'minmax(10rem, 2fr)', onNarrow: 'main' }, ({ predicate, object }) => (
      <bdi>
        {predicate}: {String(object)}
      </bdi>
    )),
    column('Confidence', { width: '7rem' }, ({ confidence }) => confidence),
    timeColumn('Valid from', ({ valid_from }) => valid_from, 'hidden'),
    ...origin<Fact>(nameOf),
  ];
  const keyOf = ({ subject, predicate, object, valid_from }: Fact) =>
    [subject, predicate, String(object), valid_from].join(' ');
  return <Part name="Facts" rows={answer.facts} columns={columns} keyOf={keyOf} />;
}

interface DrawerOptions {
  entity: Entity;
  answer: ContextAnswer;
  onClose(): void;
}

export function EntityDrawer({ entity, answer, onClose }: DrawerOptions) {
  const { id, name, type, score, properties, provenance } = entity;
  const nameOf = useNames();
  const facts = answer.facts.filter(({ subject }) => subject === id);
  const { saved_by, source, recorded_at, span, consumed } = provenance;
  return (
    <Window title={name || id} isDrawer onClose={onClose}>
      <FactList
        of={{
          Type: type,
          Id: <code>{id}</code>,
          Score: score.toFixed(3),
          'Score components': partsText(partsOf(answer, entity)),
          Source: source,
          'Saved by': saved_by !== null && <bdi>{nameOf(saved_by)}</bdi>,
          Recorded: <Time at={recorded_at} />,
          'Valid from': entity.valid_from !== undefined && <Time at={entity.valid_from} isExact />,
          'Valid to': entity.valid_to !== undefined && <Time at={entity.valid_to} isExact />,
          'Source text': span && `memory ${span.memory_id}, characters ${span.start} to ${span.end}`,
          'Used by call': <LifecycleLink id={consumed.lifecycle_id} />,
          'Used in run': consumed.run && <RunLink id={consumed.run} />,
        }}
      />
      {facts.length > 0 && (
        <>
          <h3>Facts</h3>
          <ul>
            {facts.map(({ predicate, object, confidence }) => (
              <li key={`${predicate} ${String(object)}`}>
                <bdi>
                  {predicate}: {String(object)}
                </bdi>{' '}
                <span className={textStyles.soft}>confidence {confidence}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Properties</h3>
      <Data value={properties} label="Properties" />
    </Window>
  );
}
