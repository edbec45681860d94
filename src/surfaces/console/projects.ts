import type { RequestHandler } from 'express';
import { findProjectChoices } from '../../auth/project-choices.js';
import { seeOther, sendPage } from '../browser/send-page.js';
import { projectsPage } from './pages/projects.js';
import { queryOf, type ConsoleDeps, type PersonVisit } from './visit.js';

/** Shows the project list, or redirects a person with only one project to it. */
export function showProjects({ deps }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const { person, csrf } = res.locals.visit as PersonVisit;
    const find = (queryOf(req, 'find') ?? '').trim().slice(0, 100);
    const choices = await findProjectChoices(deps.mongo.collections, person.userId, find);
    const [only] = choices.shown;
    if (only && choices.total === 1 && find === '')
      return seeOther(res, `/console/projects/${encodeURIComponent(only.projectId)}`);
    sendPage(res, projectsPage({ email: person.email, csrf, choices, find }));
  };
}
