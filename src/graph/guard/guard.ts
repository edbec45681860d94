import { LRUCache } from 'lru-cache';
import { isAppError } from '../../base/errors.js';
import { sourceOf } from './bind.js';
import { bindRegularQuery } from './clauses.js';
import { inScope, scopeParameter, type InScope } from './containers.js';
import { CypherSyntaxError, parse, type LexedText } from './cypher-parser.js';
import { inspect } from './inspect.js';
import { readKeywords, writeKeywords } from './language.js';
import { filtersOnProject } from './project-filter.js';
import { refuse } from './refusal.js';
import { lexWithinBounds, reservedPrefix, textLimits } from './text-bounds.js';
import { child, childrenOf, find, hasRule, nameOf, type Tree } from './tree.js';
import { emptyScope, Names } from './variables.js';
import { weighText } from './work.js';

/*
 * No query leaves its project. These modules enforce it:
 * - text-bounds: length, tokens, nesting, no \u escapes, no reserved names
 * - cypher-parser: the whole text must be one statement of Neo4j's Cypher 5 grammar
 * - language, inspect: allow-lists of grammar rules and functions; no writes, procedures, LOAD CSV, USE, hints or
 *   computed labels; limits on patterns, range() and nested lists
 * - work: limits on the work per row and the size of a value, given the parameters and the graph; pauses between clauses
 * - project-filter: the specification's rule that a query names the filter; isolation does not depend on it
 * - bind (patterns, containers, clauses): restricts every node and relationship of every pattern, and every
 *   variable-length path as a whole, to the scope parameter
 * - total: evaluates user conditions that can fail only after those restrictions, so that errors reveal nothing
 * - hops: an upper limit for open-ended paths
 */

/** A query for a READ session with the parameters of {@link parametersFor}. */
export interface GuardedQuery {
  /** The rewritten query, fixed to Cypher 5. */
  text: string;
  /** Whether the query covers all granted projects. Otherwise the scope is one project. */
  usesProjectIds: boolean;
  /** The names of the parameters in the user's text. */
  parameters: ReadonlySet<string>;
  /** The names of the columns in order, or null for `*`. */
  columns: readonly string[] | null;
  /** The tree from which `weighCall` computes the work, which depends on the parameters and the graph. */
  tree: Tree;
}

/**
 * Creates a `guardQuery` with its own cache, which also contains refusals.
 * @param cacheSize the maximum size of the cached texts, in UTF-16 units
 */
export function createQueryGuard(condition: InScope = inScope, cacheSize = 8_000_000): (text: string) => GuardedQuery {
  const cache = new LRUCache<string, GuardedQuery | Error>({ maxSize: cacheSize });
  return (text) => {
    const known = cache.get(text);
    if (known instanceof Error) throw refuse(known.message);
    if (known) return known;
    try {
      const guarded = guardQuery(text, condition);
      cache.set(text, guarded, { size: sizeOfTree * text.length + guarded.text.length });
      return guarded;
    } catch (error) {
      if (isAppError(error) && text.length <= textLimits.length) cache.set(text, error, { size: text.length + 1000 });
      throw error;
    }
  };
}

/** The parse tree takes about 200 bytes per word. */
const sizeOfTree = 20;

/**
 * Adds the project's parameters to those of the caller.
 * @throws AppError `invalid_input` for a reserved name
 */
export function parametersFor(
  query: Pick<GuardedQuery, 'usesProjectIds'>,
  scope: { projectId: string; grantedProjectIds: readonly string[] },
  params: Record<string, unknown> = {},
): Record<string, unknown> {
  for (const name of Object.keys(params)) {
    if (name === 'project_id' || name === 'project_ids' || name.startsWith(reservedPrefix)) {
      throw refuse(`The parameter ${name} is set by the service`);
    }
  }
  const projectIds = [...new Set([scope.projectId, ...scope.grantedProjectIds])];
  return {
    ...params,
    project_id: scope.projectId,
    project_ids: projectIds,
    [scopeParameter]: query.usesProjectIds ? projectIds : [scope.projectId],
  };
}

/**
 * Checks and rewrites a query.
 * @param condition restricts each element. It must include the project filter, and must not fail, whatever the element
 * contains.
 * @throws AppError `invalid_input`
 */
export function guardQuery(text: string, condition: InScope = inScope): GuardedQuery {
  const lexed = lexWithinBounds(text);
  const statement = parsed(lexed);
  const parameters = inspect(statement);
  if (!filtersOnProject(statement)) {
    throw refuse(
      `The query must filter on project_id = $project_id, or on project_id IN $project_ids. ${readAsCypher(lexed)}`,
    );
  }
  const query = child(statement, 'regularQuery');
  if (!query) throw refuse('The query must begin with a read clause');
  const bound = bindRegularQuery(query, {
    text,
    tokens: lexed.tokens,
    names: new Names(),
    scope: emptyScope(),
    inScope: condition,
    heavy: weighText(query),
    importsByWith: false,
  });
  return {
    tree: query,
    text: `CYPHER 5 ${bound.text}`,
    usesProjectIds: parameters.has('project_ids'),
    parameters,
    columns: columnsOf(query, text, lexed),
  };
}

function parsed(lexed: LexedText): Tree {
  const first = lexed.tokens[0]?.type ?? '';
  if (writeKeywords.has(first)) throw refuse(`The query may only read: it begins with ${first}`);
  if (!readKeywords.has(first)) {
    throw refuse('The query must begin with MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN or CALL');
  }
  try {
    const statements = childrenOf(parse(lexed), 'statement');
    const [statement] = statements;
    if (!statement || statements.length > 1) throw refuse('The query must be one statement');
    return statement;
  } catch (error) {
    if (!(error instanceof CypherSyntaxError)) throw error;
    const token = lexed.tokens[error.tokenIndex];
    const problem = token
      ? `The query is not valid at «${token.text.slice(0, 60)}», character ${token.start + 1}`
      : 'The query ends too early';
    throw refuse(`${problem}. ${readAsCypher(lexed)}`);
  }
}

function readAsCypher({ tokens }: LexedText): string {
  const first = tokens[0]?.text.toUpperCase() ?? '';
  return `The text was read as Cypher because it begins with ${first}; to ask in natural language, begin with another word, for example “Which” or “Find”`;
}

function columnsOf(query: Tree, text: string, lexed: LexedText): GuardedQuery['columns'] {
  const last = childrenOf(query, 'singleQuery').at(-1);
  const clause = last && child(childrenOf(last, 'clause').at(-1) ?? last, 'returnClause');
  const items = clause && find(clause, 'returnItems');
  if (!items) throw refuse('The query must end with RETURN');
  if (hasRule(items, 'TIMES')) return null;
  return childrenOf(items, 'returnItem').map((item) => {
    const name = item.children.at(-1);
    if (name?.rule === 'variable') return nameOf(name);
    return sourceOf(item, { text, tokens: lexed.tokens });
  });
}
