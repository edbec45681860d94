import type { FoundFact, Mention } from '../../graph/memory/part.js';
import type { RehearsedEntity, RehearsedPart, ReplacedFact } from '../../graph/memory/rehearse.js';
import { placeholder } from '../../graph/redaction/span.js';
import { nameKey } from '../../graph/store/names.js';
import type { Span } from '../../graph/store/provenance.js';
import { canonicalText } from '../../base/json.js';
import type { Turn } from './record.js';
import type { ReviewStatement } from './record/review.js';

interface StatementContext {
  turns: readonly Turn[];
  /** The predicates whose values are personal. */
  personal: ReadonlySet<string>;
}

const nothing = {
  ...{ type: null, aliases: [], properties: {}, joins: null, predicate: null, object: null },
  ...{ valid_from: null, valid_to: null, before: null, is_written: true, quote: null, not_in_quote: [] },
} satisfies Partial<ReviewStatement>;

/** What people check first: changes of what is known, then merges, then what the text does not say. */
const order = ['replacement', 'merge', 'entity', 'fact'] as const;

/** Everything that saving the parts writes, in the order in which a person checks it. */
export function statementsOf(parts: readonly RehearsedPart[], context: StatementContext): ReviewStatement[] {
  const statements = parts.flatMap((each) => [
    ...each.replaced.map((fact) => replacementOf(each, fact, context)).sort(byText),
    ...each.entities.map((entity) => entityStatement(each, entity, context)),
    ...each.found.facts.map((fact) => factStatement(each, fact, context)),
  ]);
  const rankOf = ({ kind, not_in_quote }: ReviewStatement) =>
    2 * order.indexOf(kind) + (not_in_quote.length > 0 ? 0 : 1);
  return statements.sort((a, b) => rankOf(a) - rankOf(b) || a.part - b.part);
}

/** The order of a graph's facts with equal times depends on their ids, which differ in each rehearsal. */
function byText(a: ReviewStatement, b: ReviewStatement): number {
  const [one, other] = [canonicalText(a), canonicalText(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** What is stored as personal stays hidden from everybody, as in the graph. */
function replacementOf(
  { part }: RehearsedPart,
  { subject, predicate, before, after }: ReplacedFact,
  { personal }: StatementContext,
): ReviewStatement {
  const hidden = personal.has(predicate) ? { object: placeholder('personal') } : {};
  const next = after ?? { object: null, valid_from: null, valid_to: null };
  return { ...nothing, kind: 'replacement', part, name: subject, predicate, ...next, before: { ...before, ...hidden } };
}

function entityStatement(
  { part }: RehearsedPart,
  { mention, joins, properties, isWritten }: RehearsedEntity,
  { turns }: StatementContext,
): ReviewStatement {
  const { type, name, aliases, spans } = mention;
  const quote = spans.map((span) => wordsAt(turns, span)).join(' … ');
  const values = [name, ...aliases, ...valuesIn(properties)];
  return {
    ...{ ...nothing, kind: joins && joins.id !== null ? 'merge' : 'entity', part, type, name, aliases, properties },
    ...{ joins: joins && { entity_id: joins.id, name: joins.name }, is_written: isWritten, quote },
    not_in_quote: values.map(String).filter((value) => !occursIn(quote, value)),
  };
}

function factStatement(
  { part, found, stated }: RehearsedPart,
  fact: FoundFact,
  { turns }: StatementContext,
): ReviewStatement {
  const { subject, predicate, object: term, valid_from, valid_to, span } = fact;
  const quote = wordsAt(turns, span);
  const object = typeof term === 'object' ? term.name : term;
  const names = typeof term === 'object' ? namesOf(found.entities, term) : [String(term)];
  return {
    ...{ ...nothing, kind: 'fact', part, type: subject.type, name: subject.name, predicate, object },
    ...{ valid_from, valid_to, is_written: stated.has(fact), quote },
    not_in_quote: names.some((name) => occursIn(quote, name)) ? [] : [String(object)],
  };
}

function namesOf(entities: RehearsedPart['found']['entities'], mention: Mention): string[] {
  const found = entities.find((each) => nameKey(each) === nameKey(mention));
  return [mention.name, ...(found?.aliases ?? [])];
}

function wordsAt(turns: readonly Turn[], { turn, start, end }: Span): string {
  return turns[turn ?? 0]?.text.slice(start, end) ?? '';
}

/** All values within lists and objects, with the names of fields. */
function valuesIn(value: unknown): (string | number | boolean)[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(valuesIn);
}

/** Ignores case, white space, and the separators of large numbers. */
function occursIn(quote: string, value: string): boolean {
  const [text, words] = [plain(quote), plain(value)];
  return text.includes(words) || text.replace(/(?<=\d)[\s,.'_](?=\d{3})/g, '').includes(words);
}

function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Returns the function that removes what the ontology marks as personal from a statement, for programs. */
export function withoutPersonal(all: readonly ReviewStatement[], personal: ReadonlySet<string>) {
  const hidden = placeholder('personal');
  const values = [
    ...new Set(all.flatMap((each) => personalValues(each, personal)).map((value) => plain(String(value)))),
  ];
  const tells = (text: string) => values.some((value) => plain(text).includes(value));
  return (statement: ReviewStatement): ReviewStatement => {
    const { predicate, properties, object, quote, not_in_quote } = statement;
    const shown = Object.entries(properties).map(([name, value]) => [name, personal.has(name) ? hidden : value]);
    return {
      ...statement,
      properties: Object.fromEntries(shown) as ReviewStatement['properties'],
      object: predicate !== null && personal.has(predicate) ? hidden : object,
      // The same words can say several things.
      quote: quote !== null && tells(quote) ? hidden : quote,
      not_in_quote: not_in_quote.map((value) => (tells(value) ? hidden : value)),
    };
  };
}

function personalValues({ predicate, object, properties }: ReviewStatement, personal: ReadonlySet<string>) {
  const named = Object.entries(properties).filter(([name]) => personal.has(name));
  const isPersonal = predicate !== null && personal.has(predicate) && object !== null;
  return [...named.flatMap(([, value]) => valuesIn(value)), ...(isPersonal ? [object] : [])];
}

/** What approving does, in one line. */
export function summaryOfReview(statements: readonly ReviewStatement[]): string {
  const written = statements.filter(({ is_written }) => is_written);
  const count = (kind: ReviewStatement['kind'], more: (each: ReviewStatement) => boolean = () => true) =>
    written.filter((each) => each.kind === kind && more(each)).length;
  const of = (many: number, one: string, several: string) => `${many} ${many === 1 ? one : several}`;
  const unquoted = written.filter(({ not_in_quote }) => not_in_quote.length > 0).length;
  const entities = of(
    count('entity', ({ joins }) => joins === null),
    'entity',
    'entities',
  );
  const parts = [
    `Adds ${entities} and ${of(count('fact'), 'fact', 'facts')}`,
    `merges ${of(count('merge'), 'mention with an existing entity', 'mentions with existing entities')}`,
    `changes ${of(count('replacement'), 'current fact', 'current facts')}`,
    `${of(unquoted, 'statement contains', 'statements contain')} values that are not in the quoted text`,
  ];
  return `${parts.join('; ')}.`;
}
