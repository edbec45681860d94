import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

/** Renders a problem as a whole page. */
export function problemCard(title: string, description: string): Html {
  return layout(
    title,
    html`<h1>${title}</h1>
${problemNote(description)}
<p><a href="/console">Continue to the console</a></p>`,
  );
}

/** Renders a page that redirects to a URL of the console. */
export function refreshPage(url: string): Html {
  return layout(
    'Opening the console',
    html`<meta http-equiv="refresh" content="0; url=${url}"><h1>Opening the console</h1>
<p>You followed a link from another site.</p>
<p><a href="${url}">Continue to the console</a></p>`,
  );
}
