import { domainToUnicode } from 'node:url';
import type { SchemaField } from '../../../workflows/agentflow-execution/schema-field.js';
import type { JsonObject } from '../../base/json.js';

/**
 * Facts about where an act goes and what it moves. A fact that cannot be computed is undefined, and a rule that reads it
 * cannot be evaluated: it does not permit, and a required approval asks.
 */
export interface TellingFacts {
  /** The distinct domains of all recipients, in lower case and Unicode. */
  recipient_domains: string[] | undefined;
  /** A decimal number with up to four decimal places, as text. */
  amount: string | undefined;
  /** Three letters in upper case (ISO 4217). */
  currency: string | undefined;
}

type Marked = Pick<SchemaField, 'field_id' | 'mark'>;

/** @param recipients those that the act itself knows, such as the addresses of a mail; undefined if it knows none */
export function tellingFacts(
  fields: readonly Marked[],
  input: JsonObject,
  recipients: readonly string[] | undefined,
): TellingFacts {
  const valuesOf = (mark: SchemaField['mark']) =>
    fields.filter((field) => field.mark === mark).map(({ field_id }) => input[field_id]);
  const marked = valuesOf('recipient').filter((value) => value !== undefined && value !== null && value !== '');
  const isMarked = fields.some(({ mark }) => mark === 'recipient');
  const all = [...(recipients ?? []), ...marked.flatMap((value) => addressesIn(value))];
  return {
    recipient_domains: recipients === undefined && !isMarked ? undefined : domainsOf(all),
    amount: onlyOne(valuesOf('amount'), amountOf),
    currency: onlyOne(valuesOf('currency'), currencyOf),
  };
}

function onlyOne<T>(values: readonly unknown[], read: (value: unknown) => T | undefined): T | undefined {
  return values.length === 1 ? read(values[0]) : undefined;
}

/** An entry that is not a text stays in the list, so that its domain is unknown. */
function addressesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown) => addressesIn(item));
  return typeof value === 'string'
    ? value
        .split(/[,;]/)
        .map((part) => part.trim())
        .filter((part) => part !== '')
    : [''];
}

const named = /^[^<>@]*<([^<>@\s]+@[^<>@\s]+)>$/u;
const address = /^[^\s@<>"]+@([\p{L}\p{M}\p{N}_-]+(?:\.[\p{L}\p{M}\p{N}_-]+)*)\.?$/u;

/** Undefined if one address has no domain that can be read. */
function domainsOf(addresses: readonly string[]): string[] | undefined {
  const domains = addresses.map((each) => {
    const [, domain] = address.exec(named.exec(each)?.[1] ?? each) ?? [];
    return domain === undefined ? undefined : domainToUnicode(domain.toLowerCase()) || undefined;
  });
  return domains.every((domain) => domain !== undefined) ? [...new Set(domains)].sort() : undefined;
}

/** Cedar's decimal has four decimal places and less than 16 digits before them. */
const decimal = /^-?\d{1,14}(?:\.\d{1,4})?$/;

/** Exact: a number that JavaScript may have rounded has no amount. */
function amountOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER / 10_000) return undefined;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !decimal.test(text)) return undefined;
  return text.includes('.') ? text : `${text}.0`;
}

function currencyOf(value: unknown): string | undefined {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return /^[A-Z]{3}$/.test(code) ? code : undefined;
}
