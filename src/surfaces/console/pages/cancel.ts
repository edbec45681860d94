import { html, type Html } from '../../browser/html.js';
import type { ExecutionView } from '../views.js';
import type { Visit } from '../visit.js';
import { badge } from './parts.js';

export function cancelContent({ base, csrf }: Visit, { execution_id, goal, status }: ExecutionView): Html {
  const page = `${base}/executions/${execution_id}`;
  return html`<h1>Cancel this execution?</h1>
<p><strong><bdi>${goal}</bdi></strong> ${badge(status)}</p>
<p class="note">It ends as failed and cannot be resumed. The step that it is in is interrupted; what earlier steps did stays done.</p>
<form method="post" action="${page}/cancel" class="narrow">
<input type="hidden" name="csrf_token" value="${csrf}">
<label for="reason">Reason (optional)</label>
<input id="reason" name="reason" type="text" maxlength="500" autocomplete="off">
<div class="actions"><button class="danger">Cancel the execution</button><a class="button" href="${page}">Keep it</a></div>
</form>`;
}
