import type { Requirement } from './requirement.js';

/** The nine receivers, the downstream listener, and the syncs behind them. */
export const callbacks = [
  {
    id: 'callbacks.codesync',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /v1/codesync/webhook/github answers 200 to a correctly signed push of a bound repository.',
  },
  {
    id: 'callbacks.codesync.signature',
    source: 'docs/specification.md#callback-receivers',
    says: 'X-Hub-Signature-256 is compared in constant time over the raw bytes before parsing; a wrong or missing signature is answered 401.',
  },
  {
    id: 'callbacks.codesync.unsigned',
    source: 'docs/specification.md#callback-receivers',
    says: 'If no secret is configured, an unsigned delivery is accepted with 200.',
  },
  {
    id: 'callbacks.codesync.other-events',
    source: 'docs/specification.md#callback-receivers',
    says: 'An event other than a push is answered 200 with the result ignored.',
  },
  {
    id: 'callbacks.codesync.unbound',
    source: 'docs/specification.md#callback-receivers',
    says: 'A push of a repository that is not bound is answered 404 repo_not_bound.',
  },
  {
    id: 'callbacks.catalog',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /v1/catalog/om/webhook accepts one event or an array of events.',
  },
  {
    id: 'callbacks.catalog.event',
    source: 'docs/specification.md#callback-receivers',
    says: 'A catalog event has the six fields of the specification, with its time in epoch milliseconds.',
  },
  {
    id: 'callbacks.catalog.signature',
    source: 'docs/specification.md#callback-receivers',
    says: 'X-OM-Signature is verified over the raw bytes, so the same JSON with other spacing is answered 401.',
  },
  {
    id: 'callbacks.catalog.accepted-first',
    source: 'docs/specification.md#callback-receivers',
    says: 'The answer is 202 with status accepted and is sent before any sync runs.',
  },
  {
    id: 'callbacks.catalog.unconfigured',
    source: 'docs/specification.md#callback-receivers',
    says: 'The catalog receiver answers 503 if its secret is not configured.',
  },
  {
    id: 'callbacks.ingest',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /v1/internal/catalog/ingest accepts a service-to-service ingest.',
  },
  {
    id: 'callbacks.ingest.server-key',
    source: 'docs/specification.md#callback-receivers',
    says: 'A missing and a wrong x-server-key are both answered 401 unauthorized.',
  },
  {
    id: 'callbacks.notify.professional-network',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /actions/professional_network/notify/{connectorID}/{pin} forwards the callback.',
  },
  {
    id: 'callbacks.notify.mail',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /actions/mail/notify/{connectorID}/{pin} forwards the callback.',
  },
  {
    id: 'callbacks.notify.messaging',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /actions/messaging/notify/{connectorID}/{pin} forwards the callback.',
  },
  {
    id: 'callbacks.account-provider',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /account-provider-webhook/{projectID}/{connectorID} forwards a trigger event, including form bodies.',
  },
  {
    id: 'callbacks.voice-provider',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /voice-provider/{triggerID} forwards the callback.',
  },
  {
    id: 'callbacks.media-provider',
    source: 'docs/specification.md#callback-receivers',
    says: 'POST /media-provider/{triggerID} forwards the callback.',
  },

  {
    id: 'callbacks.no-authorization',
    source: 'docs/specification.md#callback-receivers',
    says: 'A receiver ignores an Authorization header and does not forward it.',
  },
  {
    id: 'callbacks.bytes',
    source: 'docs/guides/callbacks.md',
    says: 'The downstream receives the body byte for byte: empty, one byte, 5 MiB of random bytes, invalid UTF-8, forms, chunked or not.',
  },
  {
    id: 'callbacks.content-type-alone',
    source: 'docs/specification.md#callback-receivers',
    says: 'Content-Type is the only header of the sender that is forwarded.',
  },
  {
    id: 'callbacks.content-length',
    source: 'docs/guides/callbacks.md',
    says: 'A wrong Content-Length is refused or truncated and does not affect other requests.',
  },
  {
    id: 'callbacks.status-mirrored',
    source: 'docs/specification.md#callback-receivers',
    says: 'The sender receives the status and acknowledgement of the downstream and no data of another caller.',
  },
  {
    id: 'callbacks.unreachable',
    source: 'docs/specification.md#callback-receivers',
    says: 'If the downstream does not listen, the answer is 502 upstream_unreachable.',
  },
  {
    id: 'callbacks.too-slow',
    source: 'docs/guides/callbacks.md',
    says: 'If the downstream answers too late, the answer is 504.',
  },
  {
    id: 'callbacks.path-prefix',
    source: 'docs/guides/callbacks.md',
    says: 'Encoded slashes, dots, doubled slashes, absolute addresses and an @ in the path cannot reach another target.',
  },
  {
    id: 'callbacks.no-redirects',
    source: 'docs/guides/callbacks.md',
    says: 'A redirect from downstream is not followed.',
  },
  {
    id: 'callbacks.too-large',
    source: 'docs/guides/callbacks.md',
    says: 'A body over the configured limit is answered 413.',
  },
  {
    id: 'callbacks.deduplicated',
    source: 'docs/guides/callbacks.md',
    says: 'A delivery id seen within 24 hours is acknowledged and not processed again.',
  },

  {
    id: 'downstream.internal-only',
    source: 'docs/specification.md#callback-receivers',
    says: 'The downstream routes answer only on the internal port.',
  },
  {
    id: 'downstream.pin',
    source: 'docs/specification.md#callback-receivers',
    says: 'The connector and its pin must match; they are compared in constant time.',
  },
  {
    id: 'downstream.trigger-unknown',
    source: 'docs/specification.md#callback-receivers',
    says: 'An unknown voice or media trigger is answered 404, and the sender receives this status.',
  },
  {
    id: 'downstream.trigger-configuration',
    source: 'docs/specification.md#callback-receivers',
    says: 'An account event is accepted only as the current trigger configuration of its connector allows.',
  },
  {
    id: 'downstream.account-refetched',
    source: 'docs/specification.md#callback-receivers',
    says: 'A completed hosted authentication is accepted only after the account was fetched from the provider.',
  },
  {
    id: 'downstream.signals',
    source: 'docs/specification.md#callback-receivers',
    says: 'An accepted callback signals the workflow of its connector, starts it if necessary, and is then answered 200 or 202.',
  },
  {
    id: 'downstream.nothing-lost',
    source: 'docs/guides/callbacks.md',
    says: 'A callback is acknowledged only after Temporal has stored it, even if any process is killed.',
  },
  {
    id: 'connector-events.workflow',
    source: 'docs/specification.md#workflows',
    says: 'The callbacks of a connector go to one workflow named connector/<id>.',
  },
  {
    id: 'connector-events.activates',
    source: 'docs/specification.md#workflows',
    says: 'A completed authentication makes its connector active.',
  },
  {
    id: 'connector-events.triggers',
    source: 'docs/specification.md#workflows',
    says: 'A trigger starts an execution of its coworker with the payload as input.',
  },

  {
    id: 'catalog-sync.workflow',
    source: 'docs/specification.md#workflows',
    says: 'Accepted events go to one workflow named catalog-sync/<scope>, which is started if necessary.',
  },
  {
    id: 'catalog-sync.coalesced',
    source: 'docs/specification.md#callback-receivers',
    says: 'A burst of events leads to one run after the quiet window, which each event restarts.',
  },
  {
    id: 'catalog-sync.longest-wait',
    source: 'docs/specification.md#workflows',
    says: 'A continuous stream of events cannot delay a run beyond the maximum wait.',
  },
  {
    id: 'catalog-sync.ignored',
    source: 'docs/specification.md#callback-receivers',
    says: 'Events about users, teams, bots, roles, policies and test cases do not start a run.',
  },
  {
    id: 'catalog-sync.during-run',
    source: 'docs/guides/callbacks.md',
    says: 'Events during a run lead to exactly one more run.',
  },
  {
    id: 'catalog-sync.burst',
    source: 'docs/guides/callbacks.md',
    says: '10,000 events during a kill of the API lead to one run for each quiet window, and no acknowledged event is lost.',
    fullForm: 'BURST_EVENTS',
  },
  {
    id: 'catalog-sync.reads',
    source: 'docs/guides/callbacks.md',
    says: 'A run reads tables, columns, owners and lineage page by page, with retries and within the rate limit of the catalog.',
  },
  {
    id: 'catalog-sync.upserts',
    source: 'docs/guides/callbacks.md',
    says: 'The graph contains what a run read, with provenance, and no longer contains what the catalog deleted.',
  },
  {
    id: 'catalog-sync.recorded',
    source: 'docs/guides/callbacks.md',
    says: 'Each run has a lifecycle and an audit entry.',
  },
  {
    id: 'catalog-sync.failing',
    source: 'docs/guides/callbacks.md',
    says: 'A failing catalog is retried with exponential backoff, which an operator sees in the Temporal UI.',
  },
  {
    id: 'code-sync',
    source: 'docs/guides/callbacks.md',
    says: 'A push to a bound repository starts a workflow that writes its commits, authors and touched paths to the graph.',
  },
  {
    id: 'callback.unverified-budget',
    source: 'docs/guides/callbacks.md',
    says: 'Request bodies to receivers that verify nothing have a smaller budget of their own.',
  },
  {
    id: 'codesync.one-organization',
    source: 'docs/guides/callbacks.md',
    says: 'Only one organization can bind a repository: another organization is answered 409 and receives none of its pushes.',
  },
  {
    id: 'codesync.binding-secret',
    source: 'docs/guides/callbacks.md',
    says: 'Each binding has a webhook secret that is returned once; after its first use it is the only secret that signs for the binding.',
  },
  {
    id: 'code-sync.order-of-pushes',
    source: 'docs/guides/callbacks.md',
    says: 'The head of a branch is that of the latest push, regardless of the order of delivery.',
  },
  {
    id: 'connector-events.one-run',
    source: 'docs/guides/callbacks.md',
    says: 'Copies of one provider event lead to one run, even if they arrive concurrently or after its workflow has ended.',
  },
  {
    id: 'connector-events.forged-ids',
    source: 'docs/guides/callbacks.md',
    says: 'A forged event id of an unverified sender does not suppress the real event.',
  },
  {
    id: 'connector-events.continues-as-new',
    source: 'docs/guides/callbacks.md',
    says: 'A connectorEvents workflow continues as new while its activities fail, and loses no callback.',
  },
  {
    id: 'connector.trigger-ids',
    source: 'docs/guides/callbacks.md',
    says: 'The ids of voice and media triggers cannot be guessed.',
  },
  {
    id: 'connector.callback-secret',
    source: 'docs/guides/callbacks.md',
    says: 'A connector with a secret accepts only signed callbacks.',
  },
  {
    id: 'catalog-sync.continues-as-new',
    source: 'docs/guides/callbacks.md',
    says: 'A catalogSync workflow continues as new while its catalog is down, and loses no event.',
  },
  {
    id: 'catalog-sync.outside-answers',
    source: 'docs/guides/callbacks.md',
    says: 'After any answer of the catalog, the run ends or waits with a reason and loses nothing, and a later valid answer completes the sync.',
  },
  {
    id: 'code-sync.outside-answers',
    source: 'docs/guides/callbacks.md',
    says: 'Any push is refused or written to the graph, and its workflow ends.',
  },
  {
    id: 'outbound.mail-answers',
    source: 'docs/guides/callbacks.md',
    says: 'After any answer of a mail server, the action fails with a code or is retried within its time limit.',
  },
  {
    id: 'callbacks.world',
    source: 'docs/guides/callbacks.md',
    says: 'The requests that public sources show for many senders get the answers that these senders require, and each event starts one run.',
  },
  {
    id: 'callbacks.challenges',
    source: 'docs/decisions/0034-callbacks.md',
    says: 'A sender that checks an address gets only its own token, as bounded text without markup, and never a signature.',
  },
  {
    id: 'callbacks.id-fields',
    source: 'docs/guides/callbacks.md',
    says: 'A trigger may name the fields that identify an event; for account events this requires a callback secret.',
  },
] as const satisfies readonly Requirement[];
