import { html, type Html } from '../../http/pages/html.js';
import { layout, problemNote } from '../../http/pages/layout.js';

export function errorPage(description: string): Html {
  return layout(
    'This cannot go on',
    html`<h1>This cannot go on</h1>
${problemNote(description)}
<p>Nothing was allowed and nothing was sent to the app. You can close this page, go back to the app, and start again there.</p>`,
  );
}
