import type { Requirement } from './requirement.js';

/** Requirements of agents, models and actions. */
export const agents = [
  {
    id: 'agent.tools',
    source: 'docs/guides/agentflows.md',
    says: "A model turn offers the agent's actions as tools; the calls that the model makes are run and their results returned to it.",
  },
  {
    id: 'agent.streaming',
    source: 'docs/guides/agentflows.md',
    says: 'The text of a model turn appears in the events of the execution while it is generated.',
  },
  {
    id: 'agent.accounting',
    source: 'docs/guides/agentflows.md',
    says: 'The tokens and credits of each turn are recorded per model in the usage and credit history.',
  },
  {
    id: 'agent.parameters',
    source: 'docs/guides/agentflows.md',
    says: 'The temperature and token limit of an agent are sent to the endpoint.',
  },
  {
    id: 'model.world',
    source: 'docs/guides/agentflows.md',
    says: 'The answers and errors that OpenAI-compatible endpoints really send are read for what they are: complete answers, refusals with their reason, and failures that may pass.',
  },
  {
    id: 'model.negotiated',
    source: 'docs/guides/agentflows.md',
    says: 'A request is repeated without what the endpoint refuses, and later requests to this model begin without it.',
  },
  {
    id: 'model.lossless',
    source: 'docs/guides/agentflows.md',
    says: 'Within a step, the model gets back all fields of its answers unchanged.',
  },
  { id: 'model.half-answers', source: 'docs/guides/agentflows.md', says: 'Half an answer never completes a run.' },
  {
    id: 'model.reason',
    source: 'docs/guides/agentflows.md',
    says: 'The reason of the endpoint is in the failure of the run, its step and the log, without secrets.',
  },
  {
    id: 'model.few-attempts',
    source: 'docs/guides/agentflows.md',
    says: 'An answer without content, and one with an unusual end, is repeated a few times only.',
  },
  {
    id: 'model.check-is-optional',
    source: 'docs/guides/agentflows.md',
    says: 'An anomaly check has at most two attempts, and a run continues without it.',
  },
  {
    id: 'agent.retry',
    source: 'docs/guides/agentflows.md',
    says: 'A model turn is retried after 429 and 5xx as the endpoint advises; a refusal is not retried.',
  },
  {
    id: 'agent.limits',
    source: 'docs/guides/agentflows.md',
    says: 'An agent that keeps calling tools is stopped at its limit of turns or spending.',
  },
  {
    id: 'agent.bad-endpoint',
    source: 'docs/guides/agentflows.md',
    says: 'An endpoint that hangs, closes the connection or returns invalid data fails or repeats the turn and never crashes the worker.',
  },
  {
    id: 'agent.missing-variables',
    source: 'docs/guides/agentflows.md',
    says: 'An execution that lacks a prompt variable is refused before it starts, and the error names the variable.',
  },
  {
    id: 'agent.template-safe',
    source: 'docs/specification.md#workflows',
    says: 'A prompt template can access only its variables, and its time and size are limited.',
  },
  {
    id: 'agent.knowledge-base',
    source: 'docs/guides/agentflows.md',
    says: 'has_knowledge_base retrieves through the governed pipeline as the execution, so that the provenance names the run.',
  },
  {
    id: 'agent.preview.waits',
    source: 'docs/guides/agentflows.md',
    says: 'In preview mode the run waits before side effects and shows the preview in previews and in the inbox.',
  },
  {
    id: 'agent.preview.decided',
    source: 'docs/guides/agentflows.md',
    says: 'An approval continues the run, an edit continues it with the edits, and a rejection prevents the side effects.',
  },
  {
    id: 'agent.preview.time-limit',
    source: 'docs/guides/agentflows.md',
    says: 'A preview that nobody answers ends at its time limit.',
  },
  {
    id: 'agent.anomaly',
    source: 'docs/guides/agentflows.md',
    says: 'If anomaly detection is on, each output is checked against the instructions and findings appear in anomaly_detected.',
  },
  {
    id: 'agent.failover',
    source: 'docs/guides/agentflows.md',
    says: 'After a failure the flow continues with the failover_goal of the agent, if it has one.',
  },
  {
    id: 'agent.rerun',
    source: 'docs/guides/agentflows.md',
    says: 'A rerun from an agent keeps the outputs of the preceding agents.',
  },
  {
    id: 'agent.parent-child',
    source: 'docs/guides/agentflows.md',
    says: 'An execution with a parent is recorded as its child in Temporal and in the records.',
  },

  {
    id: 'action.schemas',
    source: 'docs/guides/agentflows.md',
    says: 'The input and output of an action are validated against its schemas; a mismatch fails the step and names the field.',
  },
  {
    id: 'action.pre-post-input',
    source: 'docs/guides/agentflows.md',
    says: 'pre_and_post_execution_input is provided before and after the actions of an agent.',
  },
  {
    id: 'action.restful.authentication',
    source: 'docs/guides/agentflows.md',
    says: 'A restful connector adds its header, bearer, basic or client-credentials token to calls below its base URL.',
  },
  {
    id: 'action.restful.ssrf',
    source: 'docs/guides/agentflows.md',
    says: 'Private, loopback and metadata addresses are refused as literals, as DNS answers and as redirect targets.',
  },
  {
    id: 'action.restful.bounded',
    source: 'docs/specification.md#workflows',
    says: 'A RESTful call is aborted at its time limit and at its size limit.',
  },
  {
    id: 'action.restful.hints',
    source: 'docs/guides/agentflows.md',
    says: 'A slow answer, a 500 and a 429 with a date are retried as the server asks.',
  },
  {
    id: 'action.messaging',
    source: 'docs/guides/agentflows.md',
    says: 'A messaging action sends through the account provider.',
  },
  { id: 'action.mail', source: 'docs/guides/agentflows.md', says: 'A mail action delivers over real SMTP.' },
  {
    id: 'action.professional-network',
    source: 'docs/guides/agentflows.md',
    says: 'A professional_network action goes through the account provider.',
  },
  {
    id: 'action.content-creator',
    source: 'docs/guides/agentflows.md',
    says: 'A content_creator action goes through the account provider.',
  },
  {
    id: 'action.restful.world',
    source: 'docs/guides/connectors.md',
    says: 'HTTP calls behave as wanted for what more than a hundred public reports describe: ids of 64 bits, places and values of fields, forms, compressed answers, charsets, redirects and token answers.',
  },
  {
    id: 'action.restful.redirects',
    source: 'https://fetch.spec.whatwg.org/#http-redirect-fetch',
    says: 'Redirects are followed as browsers follow them, each through the guard and the rules, and another origin gets neither credentials nor own headers.',
  },
  {
    id: 'action.restful.encodings',
    source: 'docs/guides/connectors.md',
    says: 'Compressed answers are decoded, and the limit applies to the decoded answer.',
  },
  {
    id: 'json.exact-numbers',
    source: 'docs/decisions/0031-actions-and-connectors.md',
    says: 'A number that JavaScript would change is kept as text in all JSON that comes in: answers, tool arguments, callbacks and results of MCP tools.',
  },
  {
    id: 'action.fields.places',
    source: 'docs/guides/connectors.md',
    says: 'Each field of an HTTP call is sent to one place. People who approve a call, and its digest, see each place and each constant.',
  },
  {
    id: 'agent.template-steps',
    source: 'docs/guides/agentflows.md',
    says: 'The limit of a template counts steps, so that a busy machine does not exceed it, and a template that never ends is stopped.',
  },
  {
    id: 'agent.template-json',
    source: 'docs/guides/agentflows.md',
    says: 'Objects and lists in templates are written as JSON, also in filters of texts.',
  },
] as const satisfies readonly Requirement[];
