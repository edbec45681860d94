import { bodyReaders } from './surfaces/callbacks/read-body.js';
import type { DocumentInput } from './domain/knowledge/extract-apart.js';
import type { PolicyCheck } from './governance/policy/refuse-invalid.js';
import type { CandidateTrial } from './governance/policy/evaluate-candidate.js';
import type { SimulationInput } from './governance/policy/simulate.js';
import type { McpOutput } from './outbound/mcp-output.js';
import type { ThreadAnswer } from './threads/threads.js';
import { isAppError } from './errors.js';
import { hideSecrets as hide, redactAnswer as redact } from './graph/redaction/redactor.js';

function answering<I, T>(job: (input: I) => T | Promise<T>): (input: I) => Promise<ThreadAnswer<T>> {
  return async (input) => {
    try {
      return { value: await job(input) };
    } catch (error) {
      if (isAppError(error)) {
        const { code, message: description, facts } = error;
        return { refused: { code, description, facts } };
      }
      throw error;
    }
  };
}

// The jobs of `threads.ts`, by name. Every thread loads this module. Inputs and results are copied.
export const redactAnswer = answering((answer: unknown) => redact(answer));
export const hideSecrets = answering((answer: unknown) => hide(answer));
// Import the policy engine only where it is needed, because most threads only redact.
export const checkPolicies = answering(async (check: PolicyCheck) =>
  (await import('./governance/policy/refuse-invalid.js')).checkPolicies(check),
);
export const evaluateCandidate = answering(async (trial: CandidateTrial) =>
  (await import('./governance/policy/evaluate-candidate.js')).evaluateCandidate(trial),
);
export const simulatePolicies = answering(async (input: SimulationInput) =>
  (await import('./governance/policy/simulate.js')).simulate(input),
);
export const problemOfOutput = answering(async (output: McpOutput) =>
  (await import('./outbound/mcp-output.js')).problemOfOutput(output),
);
// The parsers of documents are large.
export const extractDocument = answering(async (input: DocumentInput) =>
  (await import('./domain/knowledge/extract-thread.js')).extractDocument(input),
);
export const readCatalogEvents = answering(bodyReaders.readCatalogEvents);
export const readPayload = answering(bodyReaders.readPayload);
export const readIngest = answering(bodyReaders.readIngest);
export const readPush = answering(bodyReaders.readPush);
export const readRepository = answering(bodyReaders.readRepository);
