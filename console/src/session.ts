import { useSyncExternalStore } from 'react';

/** The response of `GET /console/session` (src/surfaces/console/session.ts). */
interface Session {
  csrf_token: string;
  person: { user_id: string; email: string } | null;
  project: { _id: string; name: string; organization: string; role: string; roles: string[] } | null;
  /** The operations that the person may call in this project, as `<method> <path>`. */
  may: string[];
  /** The grants of the person in this project. */
  grants: string[];
  /** What the roles of the person permit in this project, such as `edit` or `decide`. */
  rights: string[];
}

/** The URL of this file is `<console>/assets/…`, wherever the console is mounted. */
const moduleUrl = import.meta.url;
const consoleAddress = new URL('..', moduleUrl);
export const apiAddress = new URL('../..', moduleUrl);
/** For example `/console`. */
export const consolePath = consoleAddress.pathname.replace(/\/$/, '');
const encodedProjectId = location.pathname.slice(consoleAddress.pathname.length).split('/')[1] ?? '';
export const projectId = decodeURIComponent(encodedProjectId);
/** The path of the pages of this project. */
export const projectPath = `${consolePath}/projects/${encodedProjectId}`;

interface State {
  session: Session;
  /** Whether the person must sign in again. The page stays as it is until then. */
  isEnded: boolean;
}

let state: State = {
  session: { csrf_token: '', person: null, project: null, may: [], grants: [], rights: [] },
  isEnded: false,
};
const listeners = new Set<() => void>();
const waiting: (() => void)[] = [];

function update(next: Partial<State>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

export function useSession(): State {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

export const csrfToken = (): string => state.session.csrf_token;
export const personId = (): string => state.session.person?.user_id ?? '';

/** Returns whether the person may call an operation of the API, for example `post /execute_flow`. */
export function useMay(): (operation: string) => boolean {
  const { may } = useSession().session;
  return (operation) => may.includes(operation);
}

/** Returns whether the person has a grant, for example `svc:governance.read`. */
export function useHoldsGrant(grant: string): boolean {
  return useSession().session.grants.includes(grant);
}

const sessionUrl = new URL(`session?projectID=${encodeURIComponent(projectId)}`, consoleAddress);

/** @param isRefresh true for an automatic refresh, which does not extend the session */
export async function readSession(isRefresh: boolean): Promise<Session> {
  const response = await fetch(sessionUrl, { headers: isRefresh ? { 'x-console-refresh': '1' } : {} });
  if (!response.ok) throw new Error(`The session could not be read: the service returned status ${response.status}.`);
  const session = (await response.json()) as Session;
  const previousUser = state.session.person?.user_id;
  if (session.person && previousUser !== undefined && previousUser !== session.person.user_id) location.reload();
  else if (session.person) update({ session });
  // Keep the person and their permissions on the screen while they sign in again.
  else update({ session: { ...state.session, csrf_token: session.csrf_token } });
  return session;
}

/**
 * Signs in without leaving the page.
 * @returns the error message if the API refuses
 */
export async function signIn(email: string, password: string): Promise<string | undefined> {
  const previousUser = state.session.person?.user_id;
  const response = await fetch(sessionUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': csrfToken() },
    body: JSON.stringify({ email, password }),
  });
  const body = (await response.json()) as Session & { error_description?: string };
  if (!response.ok) return body.error_description ?? `The service returned status ${response.status}.`;
  // Reload for another person, so that nothing the previous person typed is sent in the new person's name.
  if (previousUser !== undefined && previousUser !== body.person?.user_id) location.reload();
  else resumeWith(body);
  return undefined;
}

function resumeWith(session: Session): void {
  update({ session, isEnded: false });
  for (const resolve of waiting.splice(0)) resolve();
}

/** Continues if the same person has signed in in another tab. */
export async function resumeIfSignedIn(): Promise<void> {
  const previousUser = state.session.person?.user_id;
  const session = await readSession(true);
  if (state.isEnded && session.person && session.person.user_id === previousUser) resumeWith(session);
}

/** Waits until the person has signed in again, in this tab or in another. */
export async function waitForSignIn(usedToken: string): Promise<void> {
  const { person, csrf_token } = await readSession(true);
  if (person && csrf_token !== usedToken) return;
  if (person) throw new Error('The service does not accept the session of this page. Reload the page.');
  update({ isEnded: true });
  await new Promise<void>((resolve) => waiting.push(resolve));
}
