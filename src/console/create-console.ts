import { Router, urlencoded, type ErrorRequestHandler, type RequestHandler } from 'express';
import { createBrowserSessions } from '../auth/browser/browser-session.js';
import type { Deps } from '../deps.js';
import { AppError } from '../errors.js';
import { toAppError } from '../http/errors.js';
import { sendPage } from '../http/pages/send-page.js';
import { decideApproval, showApproval, showApprovals } from './approvals.js';
import { showAudit } from './audit.js';
import { cancelExecution, decidePreview, moveExecution, showCancel, showExecution, showExecutions } from './executions.js';
import { showLifecycle, showLifecycles } from './lifecycles.js';
import { showProject, showProjects } from './projects.js';
import { send } from './pages/layout.js';
import { openAgain, problemCard, problemContent } from './pages/problem.js';
import type { ConsolePorts } from './ports.js';
import { moveSchedule, showSchedule, showSchedules } from './schedules.js';
import { showSignIn, signInByForm, signOutByForm } from './sign-in.js';
import { inProject, signedIn, visitOf, type ConsoleDeps, type Visit } from './visit.js';

export interface ConsoleOptions {
  ports: ConsolePorts;
  /** The public address; known only when the port is bound. */
  baseUrl(): string;
}

/** The operator console: pages for people who are signed in as users, to be mounted at `/console`. */
export function createConsole(deps: Deps, { ports, baseUrl }: ConsoleOptions): Router {
  const browsers = createBrowserSessions(deps.auth.box, { cookie: 'svc_console', sameSite: 'strict', baseUrl });
  const of: ConsoleDeps = { deps, ports, browsers };
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
  show('/schedules', showSchedules);
  show('/schedules/:id', showSchedule);
  take('/schedules/:id/:step', moveSchedule);
  return router;
}

/**
 * A link on another site brings no strict cookie along; the page then opens itself once more, from here. Only where the
 * browser says where it comes from, and only for pages.
 */
const comeFromElsewhere: RequestHandler = (req, res, next) => {
  const isLink = req.method === 'GET' && req.get('sec-fetch-site') === 'cross-site' && req.get('sec-fetch-mode') === 'navigate';
  if (!isLink) return next();
  sendPage(res, openAgain(req.originalUrl));
};

const problemPages: ErrorRequestHandler = (thrown: unknown, req, res, _next) => {
  const error = toAppError(thrown);
  if (error.status >= 500) req.log.error({ err: thrown }, 'a console page failed');
  res.status(error.status).set(error.headers);
  const visit = res.locals.visit as Visit | undefined;
  if (visit && 'principal' in visit) send(visit, { title: titleOf(error), content: problemContent(titleOf(error), error.message) });
  else sendPage(res, problemCard(titleOf(error), error.message));
};

function titleOf({ status }: AppError): string {
  if (status === 404) return 'Not found';
  if (status === 403) return 'Not allowed';
  return status >= 500 ? 'Something failed' : 'This cannot be done';
}
