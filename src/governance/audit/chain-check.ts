import { genesis, hashOf, type AuditEntry, type Head } from './entry.js';

/** What a checkpoint says of a chain: after so many entries its head is this. */
export interface Mark {
  entries: number;
  head_hash: string;
}

export interface ChainFinding {
  /** The first entry that is not what it was. */
  seq: number;
  reason: string;
}

export interface ChainVerdict {
  /** How many entries were seen, and the hash that the last of them bears. */
  entries: number;
  headHash: string;
  finding: ChainFinding | undefined;
}

export interface ChainCheck {
  /** Takes the entries in the order in which they are stored; false from the first on that is wrong. */
  take(entry: AuditEntry): boolean;
  end(): ChainVerdict;
}

/**
 * Walks a chain, with the marks of its checkpoints in ascending order, and stops hashing at the first thing that is wrong.
 * A rewritten chain agrees with itself; only a mark tells, and then the first entry after the last mark that still held is
 * named. So is a tail that was cut off.
 */
export function createChainCheck(organizationId: string, marks: readonly Mark[], start: Head = genesis(organizationId)): ChainCheck {
  let { seq, hash } = start;
  let entries = seq;
  let held = seq;
  let nextMark = marks.findIndex((mark) => mark.entries > seq);
  let finding: ChainFinding | undefined;
  let lastHash = hash;

  function checkEntry(entry: AuditEntry): ChainFinding | undefined {
    const expected = seq + 1;
    if (entry.seq !== expected) return { seq: expected, reason: 'the entry of this place is missing, or another stands in it' };
    if (hashOfStored(entry) !== entry.hash) return { seq: expected, reason: 'the entry was changed' };
    if (entry.prev_hash !== hash) return { seq: expected, reason: 'the entry does not follow from the one before it' };
    return undefined;
  }

  function checkMarks(): ChainFinding | undefined {
    for (let mark = marks[nextMark]; mark?.entries === seq; mark = marks[nextMark]) {
      if (mark.head_hash !== hash) return { seq: held + 1, reason: `rewritten: entries up to ${seq} differ from what the checkpoint over them signed` };
      held = seq;
      nextMark += 1;
    }
    return undefined;
  }

  return {
    take(entry) {
      entries += 1;
      lastHash = entry.hash;
      finding ??= checkEntry(entry);
      if (finding) return false;
      ({ seq, hash } = entry);
      finding = checkMarks();
      return finding === undefined;
    },
    end() {
      const longest = marks.at(-1)?.entries ?? 0;
      if (!finding && longest > seq) finding = { seq: seq + 1, reason: `cut: the chain ends here, but a checkpoint was signed over ${longest} entries` };
      return { entries, headHash: lastHash, finding };
    },
  };
}

/** Every stored field counts, also one that was added; `_id` only repeats the place. */
function hashOfStored(entry: AuditEntry & { _id?: string }): string | undefined {
  const { _id, hash: _hash, ...content } = entry;
  try {
    return hashOf(content);
  } catch {
    return undefined;
  }
}
