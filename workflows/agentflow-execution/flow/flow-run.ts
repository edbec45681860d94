import type { AgentflowExecutionInput, ExecutionState } from '../messages.js';
import type { PathState } from '../path-state.js';
import type { Work } from './expressions.js';
import type { Stop } from './run-parts.js';

/** A step of the flow on its path. */
export interface FlowRun {
  input: AgentflowExecutionInput;
  state: ExecutionState;
  path: PathState;
  /** Runs the path of a part to its end. */
  runPath: (path: PathState) => Promise<Stop>;
  /** Resolves when the record is not being written alone. To be awaited before a command, as in `runPath`. */
  untilQuiet: () => Promise<void>;
  work: Work;
  /** Counts work that no step of the flow counts. To be awaited: it can begin a new workflow task. */
  countWork: (steps: number) => Promise<void>;
  /** To be called when the record has something new before the step ends. */
  changed: () => void;
}

/** The output of a step and the node that follows; undefined if the step continues after a pause or as a new run. */
export type FlowStepResult =
  | {
      output: unknown;
      next: string | null;
      /** The runs that the step has started have counted the output already. */
      isCounted?: boolean;
    }
  | undefined;
