import type { Send } from './methods.js';
import type { components, paths } from './openapi.js';
import { operations } from './operations.js';
import type { CallOptions, Method, Transport } from './transport.js';

type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** The paths that support an HTTP method. */
export type PathOf<M extends HttpMethod> = { [P in keyof paths]: paths[P][M] extends object ? P : never }[keyof paths];

type Operation<M extends HttpMethod, P extends PathOf<M>> = NonNullable<paths[P][M]>;
type Parameters<O, In extends 'path' | 'query'> = O extends { parameters: { [K in In]?: infer T } }
  ? NonNullable<T>
  : never;
type Contents<T> = T extends { content: infer C } ? C[keyof C] : never;

/** Makes the project optional, because the client knows its own. */
type OwnProject<T> = Omit<T, 'projectID' | 'projectId'> & Partial<Pick<T, keyof T & ('projectID' | 'projectId')>>;
type Part<Name extends string, T> = [T] extends [never]
  ? unknown
  : object extends OwnProject<T>
    ? { [K in Name]?: OwnProject<T> }
    : { [K in Name]: OwnProject<T> };
type BodyPart<O> = O extends { requestBody: infer B }
  ? { body: Contents<B> | FormData }
  : O extends { requestBody?: infer B }
    ? { body?: Contents<B> | FormData }
    : unknown;

/** The input of an operation: the `params` of its path, its `query` and its `body`. */
export type InputOf<M extends HttpMethod, P extends PathOf<M>> = Part<'params', Parameters<Operation<M, P>, 'path'>> &
  Part<'query', Parameters<Operation<M, P>, 'query'>> &
  BodyPart<Operation<M, P>>;
export type QueryOf<M extends HttpMethod, P extends PathOf<M>> = OwnProject<Parameters<Operation<M, P>, 'query'>>;
export type BodyOf<M extends HttpMethod, P extends PathOf<M>> = Contents<
  NonNullable<Operation<M, P> extends { requestBody?: infer B } ? B : never>
>;
export type AnswerOf<M extends HttpMethod, P extends PathOf<M>> =
  Operation<M, P> extends { responses: infer R } ? Contents<R[keyof R]> : never;

type Arguments<I> = object extends I
  ? [input?: I | undefined, options?: CallOptions | undefined]
  : [input: I, options?: CallOptions | undefined];

/** Calls any operation by its method and path in the API reference: `call('get', '/task/{id}', { params: { id } })`. */
export type Call = <M extends HttpMethod, P extends PathOf<M>>(
  method: M,
  path: P,
  ...rest: Arguments<InputOf<M, P>>
) => Promise<AnswerOf<M, P>>;

type DryRun = components['schemas']['DryRun'];
type ToolPath = { [P in PathOf<'post'>]: DryRun extends AnswerOf<'post', P> ? P : never }[PathOf<'post'>];
/** The name of a gateway tool, which follows `/v1/` in its path. */
export type ToolName = ToolPath extends infer P ? (P extends `/v1/${infer Name}` ? Name : never) : never;
type PathOfTool<T extends ToolName> = Extract<`/v1/${T}`, ToolPath>;
type WithoutDryRun<T> = T extends unknown ? Omit<T, 'dry_run'> : never;
export type ToolInput<T extends ToolName> = WithoutDryRun<BodyOf<'post', PathOfTool<T>>>;
export type ToolAnswer<T extends ToolName> = Exclude<AnswerOf<'post', PathOfTool<T>>, DryRun>;

/** Returns a function that calls any operation as its facts in `operations` say. */
export function createSend(transport: Transport): Send {
  const ownProjectId = transport.workspace.projectId;
  return (method, path, { params = {}, query, body } = {}, options) => {
    const facts = operations[`${method} ${path}`];
    if (facts === undefined) throw new TypeError(`the API has no operation ${method} ${path}`);
    const pathParameters: Record<string, string> = { projectID: ownProjectId, projectId: ownProjectId, ...params };
    const filledPath = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (pathParameters[name] === undefined) throw new TypeError(`${method} ${path} needs params.${name}`);
      return encodeURIComponent(pathParameters[name]);
    });
    return transport.call(
      facts.includes('gateway') ? 'gateway' : 'platform',
      {
        method: method.toUpperCase() as Method,
        path: filledPath,
        query: facts.includes('project') ? { projectID: ownProjectId, ...query } : query,
        body,
        takesKey: facts.includes('key'),
        isUnsafeToRepeat: facts.includes('once'),
      },
      options,
    );
  };
}

/** Returns `call`, whose types come from the same OpenAPI document as `operations`. */
export const createCall = (transport: Transport): Call => createSend(transport);
