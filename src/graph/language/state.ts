import neo4j, { type ManagedTransaction } from 'neo4j-driver';
import { inReadTransaction, type Connection } from '../store/sessions.js';
import { analyzerOf, defaultAnalyzer, type Analyzer, type Language, type LanguageSetting } from './analyzers.js';
import { evidenceIn, languageFrom, sumOf, type Evidence } from './detect.js';

/** The language of a project and its full-text index. The ProjectState contains it. */
export interface LanguageState {
  setting: LanguageSetting;
  /** The configured or detected language. Null until there is enough text. */
  language: Language | null;
  /** The analyzer whose index is searched. */
  analyzer: Analyzer;
  /** The analyzer whose index is being built and will then be searched. */
  next: Analyzer | null;
  /** The evidence in the texts so far. Null before the first text. */
  evidence: Evidence | null;
}

/** Selects the fields of `(s:ProjectState)` that {@link languageStateOf} reads. */
export const languageFields = `s {setting: s.language_setting, .language, .analyzer, next: s.analyzer_next, evidence: s.language_evidence}`;

export function languageStateOf(fields: unknown): LanguageState {
  const found = (fields ?? {}) as { [Name in keyof LanguageState]?: unknown };
  return {
    setting: (found.setting ?? 'auto') as LanguageSetting,
    language: (found.language ?? null) as Language | null,
    analyzer: (found.analyzer ?? defaultAnalyzer) as Analyzer,
    next: (found.next ?? null) as Analyzer | null,
    evidence: typeof found.evidence === 'string' ? (JSON.parse(found.evidence) as Evidence) : null,
  };
}

export function readLanguage(graph: Connection, projectId: string): Promise<LanguageState> {
  return inReadTransaction(
    graph,
    async (tx) => {
      const { records } = await tx.run(
        `MATCH (s:ProjectState {key: $projectId}) RETURN ${languageFields} AS language`,
        { projectId },
      );
      return languageStateOf(records[0]?.get('language'));
    },
    { projectIds: [projectId] },
  );
}

/** Returns the analyzers to whose indexes a write adds its nodes. */
function analyzersOf({ analyzer, next }: LanguageState): Analyzer[] {
  return next === null ? [analyzer] : [analyzer, next];
}

/** The position where building an index continues. First all nodes get the new label, then they lose the other ones. */
export interface IndexingCursor {
  phase: 'add' | 'remove';
  kind: 'Entity' | 'Fact';
  id: string;
}
export const firstCursor = (phase: IndexingCursor['phase']): IndexingCursor => ({ phase, kind: 'Entity', id: '' });

/** Sets values; null removes a value. Call only under the lock of the project, like all functions below. */
export async function setLanguageState(
  tx: ManagedTransaction,
  projectId: string,
  values: Record<string, string | number | null>,
): Promise<void> {
  await tx.run('MATCH (s:ProjectState {key: $projectId}) SET s += $values', { projectId, values });
}

/**
 * Sets the language. If the analyzer changes, the worker builds its index. Searches use the index when it is complete.
 */
export async function changeLanguage(
  tx: ManagedTransaction,
  projectId: string,
  state: LanguageState,
  setting: LanguageSetting,
): Promise<void> {
  const evidence = setting === 'auto' ? evidenceIn(await sampleOf(tx, projectId)) : null;
  const language = setting === 'auto' ? languageFrom(evidence ?? {}) : setting;
  await setLanguageState(tx, projectId, {
    language_setting: setting,
    language,
    language_evidence: evidence && JSON.stringify(evidence),
  });
  await changeAnalyzer(tx, projectId, state, analyzerOf(language));
}

/** Changes the analyzer and returns the new state. An empty project needs no new index. */
async function changeAnalyzer(
  tx: ManagedTransaction,
  projectId: string,
  state: LanguageState,
  newAnalyzer: Analyzer,
): Promise<LanguageState> {
  const { analyzer, next } = state;
  if ((next ?? analyzer) === newAnalyzer) return state;
  const isComplete = newAnalyzer === analyzer || newAnalyzer === defaultAnalyzer;
  const isEmpty = next === null && (await isEmptyProject(tx, projectId));
  const change = { analyzer: isComplete || isEmpty ? newAnalyzer : analyzer, next: isEmpty ? null : newAnalyzer };
  await setLanguageState(tx, projectId, {
    analyzer: change.analyzer,
    analyzer_next: change.next,
    analyzer_cursor: isEmpty ? null : JSON.stringify(firstCursor(isComplete ? 'remove' : 'add')),
  });
  return { ...state, ...change };
}

async function isEmptyProject(tx: ManagedTransaction, projectId: string): Promise<boolean> {
  const { records } = await tx.run('MATCH (n:_Scoped {project_id: $projectId}) RETURN n.id LIMIT 1', { projectId });
  return records.length === 0;
}

/**
 * Adds the texts of a save to the evidence until the language is known. Returns the analyzers to whose indexes the save
 * adds its nodes.
 */
export async function noteTexts(
  tx: ManagedTransaction,
  projectId: string,
  state: LanguageState,
  texts: Iterable<string>,
): Promise<Analyzer[]> {
  if (state.language !== null || state.setting !== 'auto') return analyzersOf(state);
  const newEvidence = evidenceIn(texts);
  if (Object.keys(newEvidence).length === 0) return analyzersOf(state);
  const evidence = sumOf(state.evidence ?? {}, newEvidence);
  const language = languageFrom(evidence);
  await setLanguageState(tx, projectId, { language, language_evidence: JSON.stringify(evidence) });
  if (language === null) return analyzersOf(state);
  return analyzersOf(await changeAnalyzer(tx, projectId, state, analyzerOf(language)));
}

const sampleSize = 200;

async function sampleOf(tx: ManagedTransaction, projectId: string): Promise<string[]> {
  const { records } = await tx.run(
    `MATCH (n:_Scoped {project_id: $projectId}) WHERE n._search IS NOT NULL WITH n LIMIT $limit
     RETURN left(n._search, 500) AS text`,
    { projectId, limit: neo4j.int(sampleSize) },
  );
  return records.map((record) => record.get('text') as string);
}
