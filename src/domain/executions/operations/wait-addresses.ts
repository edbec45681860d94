import { z } from 'zod';
import { activePathsOf } from '../../../../workflows/agentflow-execution/paths.js';
import { authorityOf, principalOfMaker } from '../../../auth/authority.js';
import type { Principal } from '../../../auth/principal.js';
import { AppError, notFound } from '../../../base/errors.js';
import { sha256Hex } from '../../../base/hash.js';
import { exampleId, Id } from '../../../base/ids.js';
import { epochSeconds } from '../../../base/time.js';
import { callAs } from '../../../governance/kernel/call-as.js';
import type { Deps } from '../../deps.js';
import { addressSecrets, makerOfAddress, workOfAddress, type WaitAddressDocument } from '../record/addresses.js';
import { eventRules } from '../rules.js';
import { deliverEvent } from './deliver-event.js';
import { readExecution, readLiveState } from './read.js';

/** The record of an address without a deadline is kept this long. */
const longestSeconds = 366 * 24 * 3600;
/** A repeated call gets the same answer for this long after the wait. */
const repeatSeconds = 24 * 3600;

export const NewWaitAddress = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().optional(),
    step_id: z.string().max(500).describe('The step that waits, as in `execution_context.waiting_for.step_id`.'),
  })
  .meta({ id: 'WaitAddressInput', example: { step_id: 'paid' } });

export const WaitAddress = z
  .object({
    url: z.string().describe('`POST` to it ends the wait. It is shown only once.'),
    execution_id: Id,
    step_id: z.string(),
    name: z.string().describe('The name of the event.'),
    expires_at: z.number().nullable().describe('The end of the wait, in epoch seconds. Null: without a limit.'),
  })
  .meta({
    id: 'WaitAddress',
    example: {
      url: 'https://flows.acme.dev/resume/wait_…',
      execution_id: exampleId,
      step_id: 'paid',
      name: 'payment.received',
      expires_at: 1763769600.5,
    },
  });
type WaitAddress = z.infer<typeof WaitAddress>;

/**
 * Creates an address for a step that waits for an event now. @throws AppError `not_found`, `conflict` if it does not wait
 */
export async function createWaitAddress(
  deps: Deps,
  principal: Principal,
  { execution_id, step_id }: { execution_id: string; step_id: string },
  baseUrl: string,
): Promise<WaitAddress> {
  const { live } = await readLiveState(deps, await readExecution(deps, principal, execution_id));
  const path = live && activePathsOf(live).find(({ event }) => event?.step_id === step_id);
  if (!path?.event) throw new AppError('conflict', `no step ${JSON.stringify(step_id)} waits for an event`);
  const { name } = path.event;
  const expires_at = path.waits_until?.at ?? null;
  const secret = addressSecrets.create();
  const kept = expires_at === null ? epochSeconds() + longestSeconds : expires_at + repeatSeconds;
  await deps.mongo.collections.wait_addresses.insertOne({
    _id: sha256Hex(secret),
    project_id: principal.projectId,
    organization_id: principal.organizationId,
    execution_id,
    step_id,
    name,
    created_by: principal.userId,
    authority: authorityOf(principal),
    expires_at: new Date(kept * 1000),
  });
  return { url: `${baseUrl}/resume/${secret}`, execution_id, step_id, name, expires_at };
}

/**
 * Ends the wait of an address, for whoever calls it. It performs `execution.event` for the maker of the address. A repeated
 * call has no further effect.
 * @throws AppError `not_found` for an unknown address, `conflict` after the wait, and what the rules refuse
 */
export async function callWaitAddress(deps: Deps, secret: string, data: unknown): Promise<void> {
  const found = addressSecrets.isWellFormed(secret)
    ? await deps.mongo.collections.wait_addresses.findOne({ _id: sha256Hex(secret) })
    : null;
  if (!found) throw notFound('the address');
  const performed = await deps.kernel.perform(
    callAs(() => principalOfMaker(deps.mongo.collections, makerOfAddress(found), workOfAddress), {
      operation: eventRules,
      entrance: 'address',
      validate: async (principal) => ({
        input: { execution_id: found.execution_id, name: found.name },
        resource: { type: 'execution', id: found.execution_id },
        dryRun: false,
        run: async () => ({ body: await deliver(deps, principal, found, data) }),
      }),
    }),
  );
  if ('error' in performed) throw performed.error;
}

/** The id of the event is that of the address, so it counts once. */
function deliver(
  deps: Deps,
  principal: Principal,
  { _id, execution_id, step_id, name }: WaitAddressDocument,
  data: unknown,
) {
  return deliverEvent(deps, principal, execution_id, { name, data, step_id }, _id);
}
