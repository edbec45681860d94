import { bodyReaders } from './surfaces/callbacks/read-body.js';
import type { ThreadAnswer, ThreadJob } from './threads/threads.js';
import { isAppError } from './base/errors.js';
import { hideSecrets as hide, redactAnswer as redact } from './graph/redaction/redactor.js';

/** `load` loads what the job needs, which does not count as its time. */
function answering<I, T>(load: () => Promise<(input: I) => T | Promise<T>>) {
  return async ({ input, begins }: ThreadJob<I>): Promise<ThreadAnswer<T>> => {
    const job = await load();
    begins.postMessage('begins');
    try {
      return { value: await job(input) };
    } catch (error) {
      if (isAppError(error)) {
        const { code, message: description, facts } = error;
        return { refused: { code, description, facts } };
      }
      throw error;
    } finally {
      begins.close();
    }
  };
}

// The jobs of `threads.ts`, by name. Every thread loads this module. Inputs and results are copied.
export const redactAnswer = answering(async () => (answer: unknown) => redact(answer));
export const hideSecrets = answering(async () => (answer: unknown) => hide(answer));
// Import the policy engine only where it is needed, because most threads only redact.
export const checkPolicies = answering(
  async () => (await import('./governance/policy/refuse-invalid.js')).checkPolicies,
);
export const evaluateCandidate = answering(
  async () => (await import('./governance/policy/evaluate-candidate.js')).evaluateCandidate,
);
export const simulatePolicies = answering(async () => (await import('./governance/policy/simulate.js')).simulate);
export const problemOfOutput = answering(async () => (await import('./outbound/mcp-output.js')).problemOfOutput);
export const problemsOfSchemas = answering(async () => (await import('./outbound/mcp-output.js')).problemsOfSchemas);
export const checkSchemas = answering(async () => (await import('./base/json-schema.js')).problemsOfSchemas);
export const problemsOfValue = answering(async () => (await import('./base/json-schema.js')).problemsOfValue);
export const readTypedAnswer = answering(async () => (await import('./models/typed-answer.js')).readTypedAnswer);
export const runCode = answering(async () => (await import('./domain/executions/run-code.js')).runCode);
export const evaluateInRun = answering(async () => (await import('./domain/executions/evaluate.js')).evaluateInRun);
// The parsers of documents are large.
export const extractDocument = answering(
  async () => (await import('./domain/knowledge/extract-thread.js')).extractDocument,
);
export const readCatalogEvents = answering(async () => bodyReaders.readCatalogEvents);
export const readPayload = answering(async () => bodyReaders.readPayload);
export const readIngest = answering(async () => bodyReaders.readIngest);
export const readPush = answering(async () => bodyReaders.readPush);
export const readRepository = answering(async () => bodyReaders.readRepository);
