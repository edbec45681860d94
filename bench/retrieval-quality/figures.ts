export const depths = [5, 10, 25] as const;

/** Sums over all questions of a category. */
interface Sums {
  questions: number;
  /** The sum for each depth. */
  recall: number[];
  reciprocalRank: number;
}

/**
 * Calculates the recall (the share of the evidence among the first k results) and the reciprocal rank of the first
 * piece of evidence.
 */
export function createFigures() {
  const byCategory = new Map<string, Sums>();
  return {
    add(category: string, evidence: readonly string[], found: readonly string[]): void {
      const wanted = new Set(evidence);
      const first = found.findIndex((id) => wanted.has(id));
      for (const name of ['all', evidence.length > 1 ? 'all: several pieces' : 'all: one piece', category]) {
        const sums = byCategory.get(name) ?? { questions: 0, recall: depths.map(() => 0), reciprocalRank: 0 };
        sums.questions += 1;
        for (const [at, depth] of depths.entries())
          sums.recall[at] =
            (sums.recall[at] ?? 0) + found.slice(0, depth).filter((id) => wanted.has(id)).length / wanted.size;
        sums.reciprocalRank += first < 0 ? 0 : 1 / (first + 1);
        byCategory.set(name, sums);
      }
    },
    rows: (): string[] =>
      [...byCategory]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([category, { questions, recall, reciprocalRank }]) =>
          [category, questions, ...[...recall, reciprocalRank].map((sum) => (sum / questions).toFixed(3))].join(' | '),
        ),
  };
}
