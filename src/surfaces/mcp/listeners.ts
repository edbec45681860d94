import type { ServerEvent } from '@modelcontextprotocol/server';
import type { Principal } from '../../auth/principal.js';
import { isAppError } from '../../base/errors.js';
import { statusOf } from '../rest/error-answers.js';
import type { Logger } from '../../log.js';
import type { CheckedCredentials, RecheckCredentials } from './caller.js';
import type { Content } from './content.js';

export type Change = ServerEvent;

/** A stream on which the server can send notifications. */
export interface Listener {
  caller(): CheckedCredentials;
  /** Returns whether the transport's stream is open. Earlier notifications would be lost. */
  ready(): boolean;
  notify(change: Change): void;
  /** Ends the stream because its credential was revoked. */
  end(): void;
}

export type Listeners = ReturnType<typeof createListeners>;

interface ListenersDeps {
  content: Pick<Content, 'tools' | 'resources' | 'prompts'>;
  recheckCredentials: RecheckCredentials;
  ontologyVersion(projectId: string): Promise<number>;
  policyVersion(organizationId: string): Promise<number>;
  log: Logger;
}

/** The versions of everything that a client may have cached. */
interface Seen {
  tools: string;
  /** The definitions of the project's own tools, which change with each release. */
  ofProject: string;
  resources: string;
  prompts: string;
  ontology: number;
  policies: number;
}

/** Notifies every open stream of the changes that its caller can see, whichever process made them. */
export function createListeners(deps: ListenersDeps) {
  const open = new Set<Listener>();
  let looking = false;
  const seen = new WeakMap<Listener, Promise<Seen | undefined>>();
  /** Records the current state for the caller, to detect changes after the stream is open. */
  const remember = (listener: Listener): void => {
    if (seen.has(listener)) return;
    const now = seenBy(deps, listener.caller().principal, once()).catch(() => undefined);
    seen.set(listener, now);
  };

  async function check(listener: Listener, sharing: Once): Promise<void> {
    try {
      const caller = listener.caller();
      const key = JSON.stringify([
        caller.authorization,
        caller.workspace,
        caller.principal.grantId,
        caller.principal.sessionId,
      ]);
      const principal = await sharing(`caller ${key}`, () => deps.recheckCredentials(caller));
      const [before, now] = await Promise.all([seen.get(listener), seenBy(deps, principal, sharing)]);
      if (!open.has(listener)) return;
      seen.set(listener, Promise.resolve(now));
      if (before) for (const change of changesBetween(before, now)) listener.notify(change);
    } catch (error) {
      // A store that does not respond must not end streams.
      if (isAppError(error) && [401, 403].includes(statusOf(error))) listener.end();
      else deps.log.debug({ err: error }, 'an open MCP stream could not be checked');
    }
  }

  return {
    remember,
    /** Registers an open stream. Returns a function that removes it. */
    add(listener: Listener): () => void {
      remember(listener);
      open.add(listener);
      return () => void open.delete(listener);
    },
    /** Checks all credentials and looks for changes once. */
    async look(): Promise<void> {
      if (looking) return;
      looking = true;
      const sharing = once();
      await Promise.all(
        [...open].filter((listener) => listener.ready()).map((listener) => check(listener, sharing)),
      ).finally(() => (looking = false));
    },
    /** Returns the number of open streams of an organization. */
    of: (organizationId: string) =>
      [...open].filter((listener) => listener.caller().principal.organizationId === organizationId).length,
  };
}

async function seenBy(
  { content, ontologyVersion, policyVersion }: ListenersDeps,
  principal: Principal,
  sharing: Once,
): Promise<Seen> {
  const { projectId, organizationId } = principal;
  const [ontology, policies, own] = await Promise.all([
    sharing(`ontology ${projectId}`, () => ontologyVersion(projectId)),
    sharing(`policies ${organizationId}`, () => policyVersion(organizationId)),
    sharing(`tools ${projectId}`, () => content.tools.ofProject(projectId)),
  ]);
  const names = (listed: readonly { name: string }[]) => listed.map(({ name }) => name).join();
  return {
    tools: names(content.tools.list(principal, [])),
    ofProject: JSON.stringify(own.map(({ definition }) => definition)),
    resources: names(content.resources.list(principal)),
    prompts: names(content.prompts.list(principal)),
    ontology,
    policies,
  };
}

/**
 * Returns the differences. New policies can change the behaviour of tools, though not their names, so clients read the
 * list again.
 */
function changesBetween(before: Seen, now: Seen): Change[] {
  const differs = (...fields: (keyof Seen)[]) => fields.some((field) => before[field] !== now[field]);
  return [
    ...(differs('tools', 'ofProject', 'policies') ? [{ kind: 'tools_list_changed' as const }] : []),
    ...(differs('resources') ? [{ kind: 'resources_list_changed' as const }] : []),
    ...(differs('prompts') ? [{ kind: 'prompts_list_changed' as const }] : []),
    ...(differs('ontology') ? [{ kind: 'resource_updated' as const, uri: 'context://ontology' }] : []),
    ...(differs('tools', 'policies') ? [{ kind: 'resource_updated' as const, uri: 'context://governance' }] : []),
  ];
}

type Once = <T>(key: string, ask: () => Promise<T>) => Promise<T>;

/** Shares one query between streams with the same credential, project or organization. */
function once(): Once {
  const answers = new Map<string, Promise<unknown>>();
  return <T>(key: string, ask: () => Promise<T>) => {
    const answer = (answers.get(key) as Promise<T> | undefined) ?? ask();
    answers.set(key, answer);
    return answer;
  };
}
