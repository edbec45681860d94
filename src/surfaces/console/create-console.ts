import { Router, urlencoded, type ErrorRequestHandler, type RequestHandler } from 'express';
import { createConsoleSessions } from '../browser/browser-session.js';
import type { Deps } from '../../domain/deps.js';
import { AppError } from '../../errors.js';
import { toAppError } from '../../http/errors.js';
import { headersOf, statusOf } from '../rest/error-answers.js';
import { sendPage } from '../browser/send-page.js';
import { endApp, showApps } from './apps.js';
import { decideApproval, showApproval, showApprovals } from './approvals.js';
import { showAudit } from './audit.js';
import {
  cancelExecution,
  decidePreview,
  moveExecution,
  showCancel,
  showExecution,
  showExecutions,
} from './executions.js';
import { showLifecycle, showLifecycles } from './lifecycles.js';
import { showProject, showProjects } from './projects.js';
import { send } from './pages/layout.js';
import { openAgain, problemCard, problemContent } from './pages/problem.js';
import type { RouteCaller } from '../rest/call-route.js';
import { moveSchedule, showSchedule, showSchedules } from './schedules.js';
import { showSignIn, signInByForm, signOutByForm } from './sign-in.js';
import { inProject, signedIn, visitOf, type ConsoleDeps, type Visit } from './visit.js';

export interface ConsoleOptions {
  /** The routes of the platform and the gateway, with their own permissions. The console adds no permissions. */
  api: RouteCaller;
  /** The public address; it is known once the port is bound. */
  baseUrl(): string;
}

/** The operator console: pages for people who sign in as users. Mount it at `/console`. */
export function createConsole(deps: Deps, { api, baseUrl }: ConsoleOptions): Router {
  const browsers = createConsoleSessions(deps.auth.box, baseUrl);
  const of: ConsoleDeps = { deps, api, browsers };
  const router = Router();
  router.use(comeFromElsewhere, urlencoded({ extended: false, limit: '64kb' }));
  router.get('/sign-in', showSignIn(of));
  router.post('/sign-in', signInByForm(of));
  router.use(signedIn(of));
  router.post('/sign-out', signOutByForm(of));
  router.get('/', showProjects(of));
  router.use('/projects/:projectID', inProject(of), projectPages());
  router.use(() => {
    throw new AppError('not_found', 'there is no such page');
  });
  router.use(problemPages);
  return router;
}

function projectPages(): Router {
  const router = Router();
  const show = (path: string, page: (visit: Visit, id: string) => Promise<void>) =>
    router.get(path, async (req, res) => page(visitOf(res), String(req.params.id ?? '')));
  const take = (path: string, act: (visit: Visit, id: string, step: string) => Promise<void>) =>
    router.post(path, async (req, res) => act(visitOf(res), String(req.params.id), String(req.params.step)));
  show('/', showProject);
  show('/executions', showExecutions);
  show('/executions/:id', showExecution);
  show('/executions/:id/cancel', showCancel);
  take('/executions/:id/cancel', cancelExecution);
  take('/executions/:id/preview', decidePreview);
  take('/executions/:id/:step', moveExecution);
  show('/approvals', showApprovals);
  show('/approvals/:id', showApproval);
  take('/approvals/:id', decideApproval);
  show('/lifecycles', showLifecycles);
  show('/lifecycles/:id', showLifecycle);
  show('/audit', showAudit);
  show('/apps', showApps);
  take('/apps/:id', endApp);
  show('/schedules', showSchedules);
  show('/schedules/:id', showSchedule);
  take('/schedules/:id/:step', moveSchedule);
  return router;
}

/**
 * Browsers do not send strict cookies with a link from another site. The page therefore opens itself again from this
 * site. This applies only to pages, and only if the browser reports where the request comes from.
 */
const comeFromElsewhere: RequestHandler = (req, res, next) => {
  const isLink =
    req.method === 'GET' && req.get('sec-fetch-site') === 'cross-site' && req.get('sec-fetch-mode') === 'navigate';
  if (!isLink) return next();
  sendPage(res, openAgain(req.originalUrl));
};

const problemPages: ErrorRequestHandler = (thrown: unknown, req, res, _next) => {
  const error = toAppError(thrown);
  const status = statusOf(error);
  if (status >= 500) req.log.error({ err: thrown }, 'a console page failed');
  res.status(status).set(headersOf(error));
  const visit = res.locals.visit as Visit | undefined;
  if (visit && 'principal' in visit)
    send(visit, { title: titleOf(status), content: problemContent(titleOf(status), error.message) });
  else sendPage(res, problemCard(titleOf(status), error.message));
};

function titleOf(status: number): string {
  if (status === 404) return 'Not found';
  if (status === 403) return 'Not allowed';
  return status >= 500 ? 'Something failed' : 'The request was refused';
}
