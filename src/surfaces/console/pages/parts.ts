import { html, type Html } from '../../browser/html.js';
import type { Page } from '../../../stores/lists.js';

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

/** A state, shown by a word and a sign as well as by colour. */
export function badge(state: string): Html {
  const tone = tones[state] ?? 'plain';
  return html`<span class="badge ${tone}"><span aria-hidden="true">${signs[tone]}</span> ${words(state)}</span>`;
}

/** Turns a name such as `pending_approval` into words. */
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

/** A list of names and values. Rows with an undefined value are not shown. */
export function facts(rows: readonly (readonly [name: string, value: Html | string | number | undefined])[]): Html {
  const shown = rows.filter(([, value]) => value !== undefined);
  return html`<dl class="facts">
${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
</dl>`;
}

export function code(text: string): Html {
  return html`<code>${text}</code>`;
}

/** Data as indented JSON. Long data is truncated. */
export function data(value: unknown, label: string): Html {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  return html`<pre tabindex="0" role="region" aria-label="${label}">${text.length > 20_000 ? `${text.slice(0, 20_000)}\n…` : text}</pre>`;
}

export interface Choice {
  value: string;
  label: string;
}

/** A selection field of a filter form. */
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

/** Shows how much of the list is visible and links to older rows and back. The filter is kept. */
export function pager(
  action: string,
  page: Page<unknown>,
  filter: Record<string, string | undefined>,
  isFirst: boolean,
): Html {
  const query = (more: Record<string, string>) => {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...filter, ...more }))
      if (value !== undefined && value !== '') given.set(name, value);
    const text = given.toString();
    return text === '' ? action : `${action}?${text}`;
  };
  const { data: rows, total_count: count, total_is_lower_bound: isMore, next_cursor: next } = page;
  const total = isMore ? `more than ${count}` : count;
  return html`<p class="count">${rows.length} of ${total} shown.</p>
${(!isFirst || next !== null) && html`<nav class="pager" aria-label="Pages of the list">${!isFirst && html`<a href="${query({})}">Newest</a>`}${next !== null && html`<a href="${query({ cursor: next })}">Older</a>`}</nav>`}`;
}

/** Reports what a form has just done. Screen readers announce it when the page loads. */
export function doneNote(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="done" role="status">${text}</p>`;
}
