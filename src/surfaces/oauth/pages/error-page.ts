import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

/** @param back the redirect URI that receives the error; set only if it is known to belong to the app */
export function errorPage(description: string, back?: { address: string; host: string }): Html {
  return layout(
    'The app’s request cannot be answered',
    html`<h1>The app’s request cannot be answered</h1>
${problemNote(description)}
<p>Nothing was allowed and nothing was sent to the app. You can close this page, go back to the app, and start again there.</p>
${back && html`<p>You can also <a href="${back.address}" rel="noreferrer">tell the app about the error</a>. This leads to <strong>${back.host}</strong>.</p>`}`,
  );
}
