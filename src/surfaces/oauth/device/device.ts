import type { RequestHandler } from 'express';
import { isAdminRole } from '../../../auth/grants.js';
import type { DeviceRequestDocument } from '../../../auth/oauth/device-requests.js';
import { findProjectChoices } from '../../../auth/project-choices.js';
import { isRefusal } from '../../../base/errors.js';
import { epochSeconds } from '../../../base/time.js';
import { headersOf, statusOf } from '../../rest/error-answers.js';
import { callerOf } from '../../browser/caller-of.js';
import { seeOther, sendPage } from '../../browser/send-page.js';
import { signInAt, signOutOf, whileLive } from '../../browser/sign-in.js';
import { formOf, queryOf } from '../form-body.js';
import { OauthError } from '../oauth-error.js';
import { answeredDevicePage, confirmDevicePage, deviceSignInPage, enterCodePage } from '../pages/device-pages.js';
import { allowDevice, findKeyProject, keyDays } from './allow-device.js';
import { devicePath } from './device-authorization.js';
import type { DevicePageDeps, DeviceVisit, Person } from './device-visit.js';

const unknownCode = 'This code is not valid, or not any more: compare it with your terminal, or run gcs login again';

/**
 * Shows the page on which a person enters, or only compares, the code of a device (RFC 8628, 3.3). It never redirects to
 * another address.
 */
export function showDevice(page: DevicePageDeps): RequestHandler {
  return async (req, res) => {
    const session = await whileLive(page.deps, page.browsers.read(req));
    page.browsers.write(res, session);
    const visit = { ...page, req, res, session, code: queryOf(req).get('user_code') ?? '' };
    await showRequest(visit, new URLSearchParams());
  };
}

const actions: Record<string, (visit: DeviceVisit, form: URLSearchParams) => Promise<void>> = {
  'sign-in': signInAction,
  'sign-out': signOutAction,
  enter: async ({ res }, form) => seeOther(res, pageOf(form.get('user_code') ?? '')),
  show: (visit, form) => showRequest(visit, form),
  allow: allowAction,
  deny: denyAction,
};

/** Handles the forms of the page. */
export function answerDevice(page: DevicePageDeps): RequestHandler {
  return async (req, res) => {
    const form = formOf(req);
    const session = await whileLive(page.deps, page.browsers.readForm(req, form.get('csrf_token')));
    const name = form.get('action') ?? '';
    const act = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!act) throw new OauthError('invalid_request', 'the form was not sent by one of its buttons');
    await act({ ...page, req, res, session, code: queryOf(req).get('user_code') ?? '' }, form);
  };
}

async function signInAction(visit: DeviceVisit, form: URLSearchParams): Promise<void> {
  const { deps, browsers, req, res, session, code } = visit;
  const email = form.get('email') ?? '';
  const login = { email, password: form.get('password') ?? '', ...callerOf(req) };
  try {
    browsers.write(res, { csrf: session.csrf, person: await signInAt(deps, login) });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    res.set(headersOf(error)).status(statusOf(error));
    sendPage(res, deviceSignInPage({ page: pageOf(code), csrf: session.csrf }, { email, problem: error.message }));
    return;
  }
  seeOther(res, pageOf(code));
}

async function signOutAction({ deps, browsers, res, session, code }: DeviceVisit): Promise<void> {
  await signOutOf(deps, session);
  browsers.write(res, { csrf: session.csrf });
  seeOther(res, pageOf(code));
}

async function allowAction(visit: DeviceVisit, form: URLSearchParams): Promise<void> {
  const found = await openRequest(visit);
  if (!found) return showRequest(visit, form);
  const problem = await allowDevice(visit, found.person, found.request, form.get('project'));
  if (problem === undefined) seeOther(visit.res, pageOf(visit.code));
  else await showRequest(visit, form, problem);
}

async function denyAction(visit: DeviceVisit, form: URLSearchParams): Promise<void> {
  const found = await openRequest(visit);
  if (!found) return showRequest(visit, form);
  const { devices, res, code } = visit;
  if (await devices.claim(found.request._id, found.person.userId)) await devices.answer(found.request._id, 'denied');
  seeOther(res, pageOf(code));
}

/** Returns the request that the person can still answer. */
async function openRequest(
  visit: DeviceVisit,
): Promise<{ person: Person; request: DeviceRequestDocument } | undefined> {
  const { person } = visit.session;
  const request = person && (await findRequest(visit, person));
  return person && request && request.answer === undefined ? { person, request } : undefined;
}

/** @throws OauthError `too_many_requests` after too many codes */
async function findRequest({ devices, enteredCodes, req, code }: DeviceVisit, { userId }: Person) {
  await enteredCodes.take(req.ip ?? '');
  await enteredCodes.take(`person ${userId}`);
  return devices.findForPerson(code, userId);
}

/** Shows where the person is: sign-in, the code, the question or the answer. */
async function showRequest(visit: DeviceVisit, form: URLSearchParams, problem?: string): Promise<void> {
  const { res, code, session } = visit;
  const { csrf, person } = session;
  const page = { page: pageOf(code), csrf };
  if (!person) return sendPage(res, deviceSignInPage(page));
  const enter = (why?: string) =>
    sendPage(res.status(why === undefined ? 200 : 422), enterCodePage({ ...page, email: person.email, problem: why }));
  if (code === '') return enter();
  const request = await findRequest(visit, person);
  if (!request) return enter(problem ?? unknownCode);
  if (request.answer !== undefined) return sendPage(res, answeredDevicePage(request));
  const find = (form.get('find') ?? '').trim().slice(0, 100);
  const choices = await findProjectChoices(visit.deps.mongo.collections, person.userId, find, isAdminRole);
  const preferred = form.get('project') ?? request.project_id;
  const picked = (await findKeyProject(visit, person, preferred)) ?? choices.shown[0];
  const view = { ...page, email: person.email, request, choices, find, picked, now: epochSeconds(), keyDays, problem };
  sendPage(res.status(problem === undefined ? 200 : 422), confirmDevicePage(view));
}

/** Returns the URL of the page, which forms keep. */
function pageOf(code: string): string {
  return code === '' ? devicePath : `${devicePath}?user_code=${encodeURIComponent(code.slice(0, 20))}`;
}
