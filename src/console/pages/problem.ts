import { html, type Html } from '../../http/pages/html.js';
import { layout, problemNote } from '../../http/pages/layout.js';

/** A problem within a project's pages. */
export function problemContent(title: string, description: string): Html {
  return html`<h1>${title}</h1>
${problemNote(description)}`;
}

/** The same on a page of its own. */
export function problemCard(title: string, description: string): Html {
  return layout(
    title,
    html`${problemContent(title, description)}
<p><a href="/console">Go on to the console</a></p>`,
  );
}

/** Goes on by itself to an address of the console. */
export function openAgain(address: string): Html {
  return layout(
    'Opening the console',
    html`<meta http-equiv="refresh" content="0; url=${address}"><h1>Opening the console</h1>
<p>You followed a link from another site.</p>
<p><a href="${address}">Go on to the console</a></p>`,
  );
}
