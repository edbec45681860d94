import { Router, urlencoded, type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { createConsoleSessions } from '../browser/browser-session.js';
import { AppError } from '../../base/errors.js';
import { toAppError } from '../../http/errors.js';
import { headersOf, statusOf } from '../rest/error-answers.js';
import { sendPage } from '../browser/send-page.js';
import { appFiles, appPaths, sendApp } from './app-pages.js';
import { acceptByForm, showInvitation } from './invitation.js';
import { showMcpAuthorized } from './mcp-servers.js';
import { showProjects } from './projects.js';
import { refreshPage, problemCard } from './pages/problem.js';
import { sessionRoutes } from './session.js';
import { showSignIn, signInByForm, signOutByForm } from './sign-in.js';
import { inProject, signedIn, type ConsoleDeps } from './visit.js';

/** Creates the operator console: pages for people who sign in as users. Mount it at `/console`. */
export function createConsole(deps: Omit<ConsoleDeps, 'browsers'>): Router {
  const consoleDeps: ConsoleDeps = { ...deps, browsers: createConsoleSessions(deps.deps.auth.box, deps.baseUrl) };
  const router = Router();
  router.use('/assets', appFiles);
  router.use('/session', sessionRoutes(consoleDeps));
  router.use(reopenCrossSiteLinks, urlencoded({ extended: false, limit: '64kb' }));
  router.get('/sign-in', showSignIn(consoleDeps));
  router.post('/sign-in', signInByForm(consoleDeps));
  router.get('/invitation', showInvitation(consoleDeps));
  router.post('/invitation', acceptByForm(consoleDeps));
  router.use(signedIn(consoleDeps));
  router.post('/sign-out', signOutByForm(consoleDeps));
  router.get('/', showProjects(consoleDeps));
  router.get('/mcp-servers/authorized', showMcpAuthorized(consoleDeps));
  router.use('/projects/:projectID', inProject(consoleDeps), projectPages());
  router.use(() => {
    throw new AppError('not_found', 'the page does not exist');
  });
  router.use(problemPages);
  return router;
}

function projectPages(): Router {
  const router = Router();
  router.get(appPaths, (req, res) => sendApp(res, pathOf(req, '/console')));
  return router;
}

/** Returns the path of a request below `base`, without the query string. */
function pathOf({ originalUrl }: Request, base: string): string {
  return originalUrl.replace(/[?#].*$/s, '').slice(base.length);
}

/**
 * Makes the page reload itself from this site, because browsers do not send strict cookies when a person follows a link
 * on another site. Applies only to page loads, and only if the browser reports the site of the link.
 */
const reopenCrossSiteLinks: RequestHandler = (req, res, next) => {
  const isCrossSiteLink =
    req.method === 'GET' && req.get('sec-fetch-site') === 'cross-site' && req.get('sec-fetch-mode') === 'navigate';
  if (!isCrossSiteLink) return next();
  sendPage(res, refreshPage(req.originalUrl));
};

const problemPages: ErrorRequestHandler = (thrown: unknown, req, res, _next) => {
  const error = toAppError(thrown);
  const status = statusOf(error);
  if (status >= 500) req.log.error({ err: thrown, req }, 'a console page failed');
  res.status(status).set(headersOf(error));
  sendPage(res, problemCard(titleOf(status), error.message));
};

function titleOf(status: number): string {
  if (status === 404) return 'Not found';
  if (status === 403) return 'Not allowed';
  return status >= 500 ? 'Something went wrong' : 'The request was refused';
}
