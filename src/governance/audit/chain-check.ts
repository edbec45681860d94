import { genesis, hashOf, type AuditEntry, type ChainHead } from './entry.js';

/** What a checkpoint states: the hash of the head after this number of entries. */
export interface CheckpointedHead {
  entries: number;
  head_hash: string;
}

interface ChainFinding {
  /** The first entry that is missing or was changed. */
  seq: number;
  reason: string;
}

export interface ChainVerdict {
  /** The number of entries, and the stored hash of the last one. */
  entries: number;
  headHash: string;
  finding: ChainFinding | undefined;
}

export type ChainCheck = ReturnType<typeof createChainCheck>;

/**
 * Checks a chain against its hashes and against the marks of its checkpoints, which must be in ascending order. Stops
 * hashing at the first problem. A chain that was rewritten completely has consistent hashes and can be detected only by
 * a mark; the finding then names the first entry after the last matching mark. A truncated chain is detected in the
 * same way.
 */
export function createChainCheck(
  organizationId: string,
  marks: readonly CheckpointedHead[],
  start: ChainHead = genesis(organizationId),
) {
  let { seq, hash } = start;
  let entries = seq;
  let held = seq;
  let nextMark = marks.findIndex((mark) => mark.entries > seq);
  let finding: ChainFinding | undefined;
  let lastHash = hash;

  function checkEntry(entry: AuditEntry): ChainFinding | undefined {
    const expected = seq + 1;
    if (entry.seq !== expected)
      return { seq: expected, reason: 'the entry at this position is missing or was replaced' };
    if (hashOfStored(entry) !== entry.hash) return { seq: expected, reason: 'the entry was changed' };
    if (entry.prev_hash !== hash) return { seq: expected, reason: 'the entry does not follow from the one before it' };
    return undefined;
  }

  function checkMarks(): ChainFinding | undefined {
    for (let mark = marks[nextMark]; mark?.entries === seq; mark = marks[nextMark]) {
      if (mark.head_hash !== hash)
        return { seq: held + 1, reason: `rewritten: the entries up to ${seq} do not match their signed checkpoint` };
      held = seq;
      nextMark += 1;
    }
    return undefined;
  }

  return {
    /** Takes the next entry in stored order. Returns false from the first problem on. */
    take(entry: AuditEntry): boolean {
      entries += 1;
      lastHash = entry.hash;
      finding ??= checkEntry(entry);
      if (finding) return false;
      ({ seq, hash } = entry);
      finding = checkMarks();
      return finding === undefined;
    },
    end(): ChainVerdict {
      const longest = marks.at(-1)?.entries ?? 0;
      if (!finding && longest > seq)
        finding = {
          seq: seq + 1,
          reason: `truncated: the chain ends here, but a checkpoint covers ${longest} entries`,
        };
      return { entries, headHash: lastHash, finding };
    },
  };
}

/** Hashes every stored field, including added ones, except `_id`, which only repeats the position. */
function hashOfStored(entry: AuditEntry & { _id?: string }): string | undefined {
  const { _id, hash: _hash, ...content } = entry;
  try {
    return hashOf(content);
  } catch {
    return undefined;
  }
}
