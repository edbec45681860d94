/** The observations of each kind of load. */
export interface Tally {
  /** An answer: its status, and the label of a refusal. */
  answer(load: string, status: number, label: string | undefined): void;
  /** A connection that was refused or broke, after which the call was repeated on another process. */
  broken(load: string): void;
  act(load: string): void;
  /** An answer that neither the contract nor the death of a process explains. */
  problem(load: string, error: unknown): void;
  acts: Map<string, number>;
  retried: Map<string, number>;
  /** By load, then by `status label`. */
  answers: Map<string, Map<string, number>>;
  problems: string[];
}

export function createTally(): Tally {
  const acts = new Map<string, number>();
  const retried = new Map<string, number>();
  const answers = new Map<string, Map<string, number>>();
  const problems: string[] = [];
  const count = (counts: Map<string, number>, name: string) => void counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    answer(load, status, label) {
      const counts = answers.get(load) ?? new Map<string, number>();
      answers.set(load, counts);
      count(counts, label === undefined ? String(status) : `${status} ${label}`);
    },
    broken: (load) => count(retried, load),
    act: (load) => count(acts, load),
    problem: (load, error) => void problems.push(`${load}: ${String((error as Partial<Error>).stack ?? error)}`),
    ...{ acts, retried, answers, problems },
  };
}
