import { html, type Html } from '../../browser/html.js';
import { layout, problemNote } from '../../browser/layout.js';

/** A problem, shown on a page of its own. */
export function problemCard(title: string, description: string): Html {
  return layout(
    title,
    html`<h1>${title}</h1>
${problemNote(description)}
<p><a href="/console">Go on to the console</a></p>`,
  );
}

/** Redirects to an address of the console. */
export function openAgain(address: string): Html {
  return layout(
    'Opening the console',
    html`<meta http-equiv="refresh" content="0; url=${address}"><h1>Opening the console</h1>
<p>You followed a link from another site.</p>
<p><a href="${address}">Go on to the console</a></p>`,
  );
}
