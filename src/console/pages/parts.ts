import { html, type Html } from '../../http/pages/html.js';
import type { Page } from '../../http/lists.js';

type Tone = 'good' | 'bad' | 'busy' | 'held' | 'plain';

const tones: Record<string, Tone> = {
  completed: 'good',
  approved: 'good',
  approve: 'good',
  permit: 'good',
  ok: 'good',
  active: 'good',
  failed: 'bad',
  rejected: 'bad',
  reject: 'bad',
  denied: 'bad',
  forbid: 'bad',
  cancelled: 'bad',
  expired: 'bad',
  running: 'busy',
  paused: 'held',
  pending: 'held',
  waiting: 'held',
  pending_approval: 'held',
  require_approval: 'held',
};

const signs: Record<Tone, string> = { good: '✓', bad: '✕', busy: '▶', held: '‖', plain: '·' };

/** A state, told by its word and its sign as well as its colour. */
export function badge(state: string): Html {
  const tone = tones[state] ?? 'plain';
  return html`<span class="badge ${tone}"><span aria-hidden="true">${signs[tone]}</span> ${words(state)}</span>`;
}

/** `pending_approval` as people read it. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

/** A time in UTC, to the second. */
export function time(epochSeconds: number): Html {
  const iso = new Date(epochSeconds * 1000).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`;
}

export function duration(seconds: number): string {
  const milliseconds = Math.round(Math.max(0, seconds) * 1000);
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds < 59_950) return `${Math.round(milliseconds / 100) / 10} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Names and what they stand for; what is left out is not shown. */
export function facts(rows: readonly (readonly [name: string, value: Html | string | number | undefined])[]): Html {
  const shown = rows.filter(([, value]) => value !== undefined);
  return html`<dl class="facts">
${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;
}

export function code(text: string): Html {
  return html`<code>${text}</code>`;
}

/** Data as it is, indented; the longest is cut. */
export function data(value: unknown, label: string): Html {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return html`<pre tabindex="0" role="region" aria-label="${label}">${text.length > 20_000 ? `${text.slice(0, 20_000)}\n…` : text}</pre>`;
}

export interface Choice {
  value: string;
  label: string;
}

/** One choice of a filter form. */
export function choices(id: string, label: string, options: readonly Choice[], chosen: string): Html {
  return html`<div><label for="${id}">${label}</label>
<select id="${id}" name="${id}">
${options.map(({ value, label: text }) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`)}
</select></div>`;
}

export function filterForm(action: string, fields: Html): Html {
  return html`<form class="filter" method="get" action="${action}" role="search" aria-label="Filter the list">
${fields}
<button>Show</button>
</form>`;
}

/** How much of a list is shown, and the way to older rows and back; the filter stays. */
export function pager(action: string, page: Page<unknown>, filter: Record<string, string | undefined>, isFirst: boolean): Html {
  const query = (more: Record<string, string>) => {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, ...more })) if (value !== undefined && value !== '') given.set(name, value);
    const text = given.toString();
    return text === '' ? action : `${action}?${text}`;
  };
  const { data: rows, total_count: total, next_cursor: next } = page;
  return html`<p class="count">${rows.length} of ${total} shown.</p>
${(!isFirst || next !== null) && html`<nav class="pager" aria-label="Pages of the list">${!isFirst && html`<a href="${query({})}">Newest</a>`}${next !== null && html`<a href="${query({ cursor: next })}">Older</a>`}</nav>`}`;
}

/** What a form has just done, said by a screen reader once the page is there. */
export function doneNote(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="done" role="status">${text}</p>`;
}
