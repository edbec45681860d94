import type { EmbeddingSlice, EmbeddingSliceRequest } from '../../../workflows/embedding/activities.js';
import { lockProject } from '../../graph/ontology/state.js';
import { inReadTransaction, inWriteTransaction } from '../../graph/store/sessions.js';
import { createGeneration, generationOf, type Generation } from '../../graph/vectors/generation.js';
import { notePage, readNotes, type ElementToEmbed } from '../../graph/vectors/notes.js';
import {
  beginGeneration,
  completeGeneration,
  isCurrent,
  readEmbeddingState,
  setCursor,
  setEmbeddingError,
  setRefused,
  type EmbeddingState,
} from '../../graph/vectors/state.js';
import { readVectors, removeOtherVectors, writeVectors, type EmbeddedNote } from '../../graph/vectors/vectors.js';
import { isRefusedText } from '../../models/embedder.js';
import { sha256Hex } from '../../base/hash.js';
import type { Deps } from '../deps.js';

export type EmbeddingDeps = Pick<Deps, 'graph' | 'embedder' | 'customers'>;

/** The number of elements in one slice, and in one transaction. */
const sliceSize = 128;
/** Also the answer for a project that was deleted in the meantime. */
export const nothingToEmbed = { done: true, embedded: 0, unchanged: 0, removed: 0, refused: 0 };
const nothing = { ...nothingToEmbed, done: false };

/**
 * Does the next part of the work of a project: begins a generation, notes its elements, embeds the noted elements,
 * completes the generation, or removes the old one. Safe to repeat. Returns `done` if nothing is left to do. Throws like
 * `Embedder.embed`.
 */
export async function embedNext(
  deps: EmbeddingDeps,
  request: EmbeddingSliceRequest,
  signal: AbortSignal,
): Promise<EmbeddingSlice> {
  const { graph, embedder } = deps;
  const { project_id: projectId } = request;
  // The endpoint was removed from the configuration after the sweep.
  if (embedder.model === undefined) return nothingToEmbed;
  const generation = generationOf(embedder.model);
  const { state, notes } = await inReadTransaction(graph, async (tx) => ({
    state: await readEmbeddingState(tx, projectId),
    notes: await readNotes(tx, projectId, sliceSize),
  }));
  if (state.building !== generation.id && !isCurrent(state, generation.id)) {
    await createGeneration(graph, generation);
    await underLock(deps, projectId, (tx) => beginGeneration(tx, projectId, generation.id));
    return nothing;
  }
  if (state.cursor) {
    await underLock(deps, projectId, async (tx, now) => {
      if (now.building === generation.id && now.cursor)
        await setCursor(tx, projectId, await notePage(tx, projectId, now.cursor));
    });
    return nothing;
  }
  if (notes.length > 0) return embedNotes(deps, request, { generation, notes }, signal);
  return { ...nothing, done: await complete(deps, projectId, generation) };
}

function underLock<T>(
  { graph }: EmbeddingDeps,
  projectId: string,
  work: (tx: Parameters<typeof readEmbeddingState>[0], state: EmbeddingState) => Promise<T>,
): Promise<T> {
  return inWriteTransaction(graph, projectId, async (tx) => {
    await lockProject(tx, projectId);
    return work(tx, await readEmbeddingState(tx, projectId));
  });
}

/** Whether the project has only vectors of this generation. */
function complete(deps: EmbeddingDeps, projectId: string, { id }: Generation): Promise<boolean> {
  return underLock(deps, projectId, async (tx, state) => {
    if ((await readNotes(tx, projectId, 1)).length > 0) return false;
    if (state.building === id && state.cursor === null) await completeGeneration(tx, projectId, id);
    else if (!isCurrent(state, id)) return false;
    if (state.error !== null) await setEmbeddingError(tx, projectId, null);
    return !(await removeOtherVectors(tx, projectId, id));
  });
}

async function embedNotes(
  deps: EmbeddingDeps,
  request: EmbeddingSliceRequest,
  { generation, notes }: { generation: Generation; notes: readonly ElementToEmbed[] },
  signal: AbortSignal,
): Promise<EmbeddingSlice> {
  const { graph } = deps;
  const { project_id: projectId } = request;
  const elements = notes.map(({ element }) => element);
  const known = await inReadTransaction(graph, (tx) => readVectors(tx, generation.id, elements));
  const hashOf = new Map(known.map(({ element, hash }) => [element, hash]));
  // A fact that is stated again has a new id, but the text of the noted fact that it replaces.
  const vectors = new Map<string, readonly number[]>(known.map(({ hash, vector }) => [hash, vector]));
  const hashed = notes.map((note) => ({ ...note, hash: sha256Hex(note.text) }));
  const texts = new Map(
    hashed.filter(({ text, hash }) => text !== '' && !vectors.has(hash)).map((each) => [each.hash, each.text]),
  );
  const { inputTokens, refusal } = await embedTexts(deps, texts, vectors, { owner: request.project_id, signal });
  if (inputTokens > 0) await charge(deps, request, { model: generation.model, inputTokens });
  const embedded = hashed.map((note): EmbeddedNote => {
    const vector = vectors.get(note.hash) ?? null;
    return { ...note, isRemoved: vector === null, vector: hashOf.get(note.element) === note.hash ? null : vector };
  });
  await underLock(deps, projectId, async (tx, state) => {
    if (state.building !== generation.id && !isCurrent(state, generation.id)) return;
    await writeVectors(tx, projectId, generation.id, embedded);
    if (refusal !== null) await setRefused(tx, projectId, refusal);
    if (state.error !== null) await setEmbeddingError(tx, projectId, null);
  });
  const count = (holds: (note: EmbeddedNote) => boolean) => embedded.filter(holds).length;
  return {
    done: false,
    embedded: count(({ vector }) => vector !== null),
    unchanged: count(({ vector, isRemoved }) => vector === null && !isRemoved),
    removed: count(({ text }) => text === ''),
    refused: count(({ text, isRemoved }) => text !== '' && isRemoved),
  };
}

/** Adds the vectors of the texts, by digest. A text that the endpoint refuses does not delay the others. */
async function embedTexts(
  { embedder }: EmbeddingDeps,
  texts: ReadonlyMap<string, string>,
  vectors: Map<string, readonly number[]>,
  options: { owner: string; signal: AbortSignal },
): Promise<{ inputTokens: number; refusal: string | null }> {
  const all = [...texts];
  if (all.length === 0) return { inputTokens: 0, refusal: null };
  const embed = async (some: readonly (readonly [string, string])[]) => {
    const answer = await embedder.embed(
      some.map(([, text]) => text),
      options,
    );
    for (const [at, [hash]] of some.entries()) vectors.set(hash, answer.vectors[at] ?? []);
    return answer.inputTokens;
  };
  try {
    return { inputTokens: await embed(all), refusal: null };
  } catch (error) {
    if (!isRefusedText(error)) throw error;
    // If the endpoint refuses this text as well, the refused texts are not the cause.
    await embedder.embed(['test'], options);
  }
  let inputTokens = 0;
  let refusal: string | null = null;
  for (const one of all) {
    try {
      inputTokens += await embed([one]);
    } catch (error) {
      if (!isRefusedText(error)) throw error;
      refusal = `a text of ${one[1].length} characters was refused: ${error.message}`;
    }
  }
  return { inputTokens, refusal };
}

function charge(
  { customers }: EmbeddingDeps,
  { organization_id, project_id, charge_key: key }: EmbeddingSliceRequest,
  { model, inputTokens }: { model: string; inputTokens: number },
): Promise<void> {
  const turns = { model, input_tokens: inputTokens, output_tokens: 0 };
  // There is no execution; the ledger names the project.
  const of = { projectId: project_id, executionId: '', agentflowId: '' };
  return customers.charge(organization_id, [{ ...of, key: `embedding/${key}`, credits: 0, turns }]);
}

/** Stores why embedding does not advance. The documentation topic `retrieval` shows it. */
export function recordEmbeddingFailure(deps: EmbeddingDeps, projectId: string, message: string): Promise<void> {
  return underLock(deps, projectId, (tx) => setEmbeddingError(tx, projectId, message));
}
