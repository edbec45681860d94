import { html, type Html } from '../../http/pages/html.js';
import { layout } from '../../http/pages/layout.js';

/** A problem within a project's pages. */
export function problemContent(title: string, description: string): Html {
  return html`<h1>${title}</h1>
<p class="problem" role="alert">${description}</p>`;
}

/** A page of its own, which can go on by itself to an address of the console. */
export function problemCard(title: string, description: string, { again }: { again?: string }): Html {
  return layout(
    title,
    html`${again !== undefined && html`<meta http-equiv="refresh" content="0; url=${again}">`}<h1>${title}</h1>
<p>${description}</p>
<p><a href="${again ?? '/console'}">Go on to the console</a></p>`,
  );
}
