import { isAppError } from '../../errors.js';
import { bindRegularQuery } from './clauses.js';
import { inScope, scopeParameter, type InScope } from './containers.js';
import { CypherSyntaxError, parse, type LexedText } from './cypher-parser.js';
import { inspect, type QueryBounds } from './inspect.js';
import { readKeywords, writeKeywords } from './language.js';
import { filtersOnProject } from './project-filter.js';
import { refuse } from './refusal.js';
import { TextCache } from './text-cache.js';
import { lexWithinBounds, reservedPrefix, type TextBounds } from './text-bounds.js';
import { child, childrenOf, find, has, nameOf, type Tree } from './tree.js';
import { emptyScope, Names } from './variables.js';

/*
 * No query leaves its project. What is enforced, and where:
 * - text-bounds: length, tokens, nesting, no \u escapes, no reserved names;
 * - cypher-parser: the whole text is one statement of Neo4j's own Cypher 5 grammar, or it is refused;
 * - language, inspect: an allow-list of grammar rules and of functions; no writes, procedures, LOAD CSV, USE, hints,
 *   computed labels; bounds on patterns, range(), reduce() and nested lists;
 * - project-filter: the specification's rule that a query names the filter. Safety does not rest on it;
 * - bind (patterns, containers, clauses): every node and relationship of every pattern, and every path of variable
 *   length as a whole, is in the scope parameter by a condition of ours;
 * - total: a caller's condition that could fail is evaluated only after those, so that errors tell nothing either;
 * - hops: paths of open length end at a ceiling.
 */

export interface GuardOptions extends TextBounds, QueryBounds {
  maxHops: number;
  /** At least the project's; what else it asks for cannot fail, whatever the element holds. */
  inScope: InScope;
}

export const guardDefaults: GuardOptions = {
  maxLength: 20_000,
  maxTokens: 8_000,
  maxDepth: 40,
  maxPatterns: 100,
  maxRange: 10_000,
  maxIterationDepth: 3,
  maxHops: 15,
  inScope,
};

/** Ready for a READ session with {@link parametersFor}. */
export interface GuardedQuery {
  /** The rewritten query, pinned to Cypher 5. */
  text: string;
  /** The query asks for the granted projects too; otherwise the scope is one project. */
  usesProjectIds: boolean;
  /** Names of the parameters in the caller's text. */
  parameters: ReadonlySet<string>;
  /** Names of the columns in order; null where the caller wrote `*`. */
  columns: readonly string[] | null;
  /** Whether the last RETURN has a LIMIT of its own. The executor limits in any case. */
  hasLimit: boolean;
}

/** Guards with a cache of its own. `cacheSize` bounds the kept texts, in UTF-16 units; refusals are kept too. */
export function createQueryGuard({ cacheSize = 8_000_000, ...options }: Partial<GuardOptions> & { cacheSize?: number } = {}) {
  const cache = new TextCache<GuardedQuery | Error>(cacheSize);
  const settings = { ...guardDefaults, ...options };
  return {
    /** As {@link guardQuery}. */
    guard(text: string): GuardedQuery {
      const known = cache.get(text);
      if (known instanceof Error) throw refuse(known.message);
      if (known) return known;
      try {
        const guarded = guardQuery(text, settings);
        cache.set(text, guarded, text.length + guarded.text.length);
        return guarded;
      } catch (error) {
        if (isAppError(error) && text.length <= settings.maxLength) cache.set(text, error, text.length + 1000);
        throw error;
      }
    },
  };
}

/** The caller's parameters with the project's. Throws when the caller passes a name that is the service's. */
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

/** The rewritten query. Throws AppError S4:validate-input. */
export function guardQuery(text: string, options: GuardOptions = guardDefaults): GuardedQuery {
  const lexed = lexWithinBounds(text, options);
  const statement = parsed(lexed);
  const parameters = inspect(statement, options);
  if (!filtersOnProject(statement)) {
    throw refuse('The query must filter on project_id = $project_id, or on project_id IN $project_ids');
  }
  const query = child(statement, 'regularQuery');
  if (!query) throw refuse('The query must begin with a read clause');
  const names = new Names();
  const { maxHops, inScope: condition } = options;
  const bound = bindRegularQuery(query, { text, tokens: lexed.tokens, names, scope: emptyScope(), maxHops, inScope: condition });
  return {
    text: `CYPHER 5 ${bound.text}`,
    usesProjectIds: parameters.has('project_ids'),
    parameters,
    ...resultOf(query, text, lexed),
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
    throw refuse(token ? `The query is not valid at «${token.text.slice(0, 60)}», character ${token.start + 1}` : 'The query ends too early');
  }
}

function resultOf(query: Tree, text: string, lexed: LexedText): Pick<GuardedQuery, 'columns' | 'hasLimit'> {
  const last = childrenOf(query, 'singleQuery').at(-1);
  const clause = last && child(childrenOf(last, 'clause').at(-1) ?? last, 'returnClause');
  const items = clause && find(clause, 'returnItems');
  if (!items) throw refuse('The query must end with RETURN');
  const columns = childrenOf(items, 'returnItem').map((item) => {
    const name = item.children.at(-1);
    if (name?.rule === 'variable') return nameOf(name);
    return text.slice(lexed.tokens[item.first]?.start, lexed.tokens[item.last]?.end);
  });
  const body = child(clause, 'returnBody');
  return { columns: has(items, 'TIMES') ? null : columns, hasLimit: body !== undefined && has(body, 'limit') };
}
