import type { BrowserSession } from '../../browser/browser-session.js';
import type { Html } from '../../browser/html.js';
import { consentPage } from '../pages/consent-page.js';
import { haveSameRoles, toStoredRoles } from '../../../auth/grants.js';
import { grantableScopes, Scope } from '../../../auth/oauth/scopes.js';
import { answerAddress } from './authorization-request.js';
import type { Visit } from './visit.js';
import { findProjectChoice, findProjectChoices, type ProjectChoice } from '../../../auth/project-choices.js';

type Person = NonNullable<BrowserSession['person']>;

/**
 * Returns the consent page with the current choices of the form. The initial choices are the oldest project and every
 * scope that the person can grant.
 */
export async function consentPageFor(
  { deps, request, session, page }: Visit,
  person: Person,
  form: URLSearchParams,
  problem?: string,
): Promise<Html> {
  const { collections } = deps.mongo;
  const find = (form.get('find') ?? '').trim().slice(0, 100);
  const choices = await findProjectChoices(collections, person.userId, find);
  const picked = (await pickedProject(deps, person, form)) ?? choices.shown[0];
  const allowed = picked ? grantableScopes(picked.roles) : [];
  const isFirstSight = !form.has('shown_project') || form.get('shown_project') !== picked?.projectId;
  const offered = request.scopes.filter((scope) => allowed.includes(scope));
  return consentPage({
    client: request.client,
    redirectUri: request.redirectUri,
    page,
    csrf: session.csrf,
    email: person.email,
    choices,
    find,
    picked,
    offered,
    withheld: request.scopes.filter((scope) => !allowed.includes(scope)),
    checked: isFirstSight ? offered : offered.filter((scope) => form.getAll('scope').includes(scope)),
    problem,
  });
}

/**
 * Handles the Allow button: issues a code, or returns the problem to solve first. The code grants only scopes that the
 * client requested, that the person checked and that the person may currently grant on the chosen project.
 */
export async function decide(
  { deps, request }: Visit,
  person: Person,
  form: URLSearchParams,
): Promise<{ address: string } | { problem: string }> {
  const choice = await pickedProject(deps, person, form);
  if (!choice) return { problem: 'Choose a project that you have a role on.' };
  const shownChoice = await findProjectChoice(deps.mongo.collections, person.userId, form.get('shown_project') ?? '');
  if (!shownChoice || !haveSameRoles(shownChoice, choice))
    return { problem: 'You picked another project: check what would be allowed there.' };
  const checked = form.getAll('scope');
  const allowed = grantableScopes(choice.roles);
  const scopes = Scope.options.filter(
    (scope) => checked.includes(scope) && allowed.includes(scope) && request.scopes.includes(scope),
  );
  if (scopes.length === 0) return { problem: 'Check at least one thing to allow, or choose Deny.' };
  return { address: await codeAddress(deps, request, person, choice, scopes) };
}

async function codeAddress(
  deps: Visit['deps'],
  request: Visit['request'],
  person: Person,
  choice: ProjectChoice,
  scopes: Scope[],
): Promise<string> {
  const { client, redirectUri, codeChallenge, resource } = request;
  const code = await deps.codes.issue({
    grant: { client_id: client._id, user_id: person.userId, project_id: choice.projectId, scopes, resource },
    ...toStoredRoles(choice.roles),
    redirect_uri: redirectUri,
    code_challenge: codeChallenge,
  });
  await deps.clients.used(client._id);
  await deps.governance.audit.append({
    organization_id: choice.organizationId,
    actor: `user_jwt:${person.userId}`,
    action: 'oauth-consent',
    resource: `project:${choice.projectId}`,
    outcome: `allowed: ${scopes.join(' ')} to ${client._id}`,
    lifecycle_id: null,
  });
  return answerAddress(request, { code }, deps.baseUrl());
}

async function pickedProject(
  { mongo }: Visit['deps'],
  person: Person,
  form: URLSearchParams,
): Promise<ProjectChoice | undefined> {
  const projectId = form.get('project');
  return projectId === null ? undefined : findProjectChoice(mongo.collections, person.userId, projectId);
}
