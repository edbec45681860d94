export { createClient, type Client, type ClientOptions } from './client.js';
export type { AnswerOf, BodyOf, Call, InputOf, PathOf, QueryOf, ToolAnswer, ToolInput, ToolName } from './call.js';
export {
  agent,
  defineAgentflow,
  inputs,
  step,
  type AgentDefinition,
  type AgentflowDefinition,
  type FlowNode,
  type Returns,
  type StepDefinition,
} from './define.js';
export type { Executions } from './executions.js';
export type { FollowOptions } from './events.js';
export type { Files } from './files.js';
export type { Gateway } from './gateway.js';
export { paginate, type Page, type PageQuery } from './page.js';
export type { components, paths } from './openapi.js';
export type { Platform } from './platform.js';
export { cel, liquid, type AnyReference, type Expression, type Literal, type Reference } from './references.js';
export type { RetryOptions } from './retry.js';
export type { RecordsQuery, Tables } from './tables.js';
export { ServiceError, type ErrorBody } from './service-error.js';
export type { CallOptions, Method, Query, RequestParts, SendRequest } from './transport.js';
export type { JsonSchema, ValueOf } from './values.js';
// eslint-disable-next-line no-restricted-syntax -- `types.ts` names the types of the package.
export type * from './types.js';
