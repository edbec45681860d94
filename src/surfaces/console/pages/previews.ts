import { z } from 'zod';
import { html, type Html } from '../../browser/html.js';
import type { ExecutionView } from '../views.js';
import type { Visit } from '../visit.js';
import { code, data, facts, time } from './parts.js';

type Preview = ExecutionView['previews'][string];

const ProposedActions = z.array(
  z.object({ name: z.string(), method: z.string(), endpoint: z.string(), input: z.unknown() }),
);
const ProposedOutput = z.object({ output: z.string() });

/** What agents are about to do and wait with until a person has decided. */
export function waitingPreviews(
  visit: Visit,
  { execution_id, previews }: ExecutionView,
  mayDecide: boolean,
): Html | undefined {
  const open = Object.values(previews).filter(({ status }) => status === 'waiting');
  if (open.length === 0) return undefined;
  return html`<section aria-labelledby="previews"><h2 id="previews">Waits for a person</h2>
${open.map(
  (
    preview,
    at,
  ) => html`<p class="note"><strong><bdi>${preview.title}</bdi></strong> ${preview.kind === 'output' ? 'shows its output' : 'shows its actions'} before it goes on, until ${time(preview.expires_at)}.</p>
${proposal(preview)}
${mayDecide && decision(visit, execution_id, preview, at)}`,
)}</section>`;
}

function proposal({ title, proposed }: Preview): Html {
  const actions = ProposedActions.safeParse(proposed);
  if (actions.success) {
    return html`<ol class="rows" aria-label="What ${title} would do">${actions.data.map(
      ({ name, method, endpoint, input }, at) => html`<li><h3><bdi>${name}</bdi></h3>
${facts([['Call', html`${code(method)} ${code(endpoint)}`]])}
${data(input, `Input of call ${at + 1}, ${name}`)}</li>`,
    )}</ol>`;
  }
  const output = ProposedOutput.safeParse(proposed);
  return data(output.success ? output.data.output : proposed, `What ${title} proposes`);
}

/** The decision is for what is shown here: the form names it. */
function decision(
  { base, csrf }: Visit,
  executionId: string,
  { agent_id, preview_id, title, kind }: Preview,
  at: number,
): Html {
  const of = html`<span class="hidden"> what ${title} proposes</span>`;
  return html`<form method="post" action="${base}/executions/${executionId}/preview" class="narrow">
<input type="hidden" name="csrf_token" value="${csrf}">
<input type="hidden" name="agent_id" value="${agent_id}">
<input type="hidden" name="preview_id" value="${preview_id}">
<p>Approving ${kind === 'output' ? 'lets this output stand' : 'lets all of these calls be made; what one takes from the answer of an earlier one is filled in then'}. Rejecting ends the execution.</p>
<label for="reason-${at}">Reason of a rejection (optional)</label>
<input id="reason-${at}" name="reason" type="text" maxlength="500" autocomplete="off">
<div class="actions"><button class="primary" id="approve-${at}" name="decision" value="approve">Approve${of}</button><button class="danger" id="reject-${at}" name="decision" value="reject">Reject${of}</button></div>
</form>`;
}
