import { operationCall, type Route } from './define-route.js';
import type { Principal } from '../../auth/principal.js';
import { traceIn } from '../../http/trace.js';
import { newId } from '../../ids.js';
import { epochSeconds } from '../../time.js';
import type { DomainOperation } from '../../domain/operation.js';
import type { Call, Checked, Resource } from '../../governance/kernel/call.js';

/** A validated call of a route that performs an operation. */
export interface RouteCall {
  route: Route & { operation: DomainOperation };
  principal: Principal;
  input: Parameters<Route['handler']>[0];
  channel: 'rest' | 'console';
  resumeToken: string | undefined;
}

export type RouteOutcome = { lifecycleId?: string } & ({ held: boolean; value: unknown } | { error: unknown });

/** Performs a route's operation as a governed call, after its surface has authenticated, scoped and validated it. */
export async function performRoute(given: RouteCall): Promise<RouteOutcome> {
  const { lifecycleId, ...performed } = await given.input.deps.kernel.perform(callOf(given));
  const id = lifecycleId === undefined ? {} : { lifecycleId };
  if ('error' in performed) return { ...id, error: performed.error };
  const { status, body } = performed.ending;
  const held = status === 'pending_approval';
  return { ...id, held, value: held ? { lifecycle_id: lifecycleId, ...(body as object) } : body };
}

const uploadCannotWait =
  'the policies ask for an approval, and an upload cannot be held: its content is known only once it is received';

function callOf({ route, principal, input, channel, resumeToken }: RouteCall): Call {
  const { operation } = route;
  const call = operationCall(route.method, input);
  const rules = operation.rulesFor?.(call) ?? operation;
  return {
    lifecycleId: newId(),
    startedAt: epochSeconds(),
    operation: rules,
    asked: operation.given,
    name: rules.name,
    channel,
    traceId: traceIn(input.ctx.res).traceId,
    resumeToken,
    ...(route.multipart && { cannotWait: uploadCannotWait }),
    alwaysRecorded: false,
    resumesItself: channel === 'console',
    authenticate: async () => principal,
    resolveScope: async (authenticated) => authenticated,
    admit: async () => undefined,
    validate: async () => checkedOf(route, rules.name, { input, call }),
  };
}

interface Validated {
  input: RouteCall['input'];
  call: ReturnType<typeof operationCall>;
}

function checkedOf({ operation, ...route }: RouteCall['route'], name: string, { input, call }: Validated): Checked {
  const { given, lookUp, binds, shows } = operation;
  const resource = resourceOf(name, route, input.params as Record<string, unknown> | undefined);
  return {
    input: { ...ownFields(input.query), ...ownFields(input.params), ...ownFields(input.body), ...given },
    resource: { ...resource, id: resource.id || '*' },
    dryRun: false,
    ...(lookUp && { lookUp: () => lookUp(call) }),
    ...(binds && { binds: () => binds(call) }),
    ...(shows && { shows: () => shows(call) }),
    async run({ recordId }) {
      const { ctx } = input;
      const repeatable =
        recordId === undefined ? ctx : { ...ctx, recordId, idempotencyKey: ctx.idempotencyKey ?? recordId };
      const body = await route.handler({ ...input, ctx: repeatable });
      const madeId = resource.id === '' ? idIn(body) : undefined;
      return { body, ...(madeId !== undefined && { madeId }) };
    },
  };
}

/** Removes the project, because it comes from the principal. How a request names it is not part of what is approved. */
function ownFields(fields: unknown): Record<string, unknown> {
  const { projectID: _upper, projectId: _lower, ...own } = (fields ?? {}) as Record<string, unknown>;
  return own;
}

/** The resource of the operation: the last id in the path other than the project's. */
function resourceOf(name: string, { path }: Pick<Route, 'path'>, params: Record<string, unknown> = {}): Resource {
  const last = [...path.matchAll(/\{(\w+)\}/g)]
    .map(([, parameter = '']) => parameter)
    .filter((parameter) => !/^projectI[dD]$/.test(parameter))
    .at(-1);
  const id = last === undefined ? undefined : params[last];
  return { type: name.split('.')[0] ?? name, id: typeof id === 'string' ? id : '' };
}

function idIn(body: unknown): string | undefined {
  const { _id, id, execution_id, user_id } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  return [_id, id, execution_id, user_id].find((value) => typeof value === 'string');
}
