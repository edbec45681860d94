import type { RequestHandler } from 'express';
import { findPlaces } from '../../auth/places.js';
import { seeOther, sendPage } from '../browser/send-page.js';
import { projectsPage } from './pages/projects.js';
import { queryOf, type ConsoleDeps, type PersonVisit } from './visit.js';

/** Shows the project list, or redirects a person with only one project to it. */
export function showProjects({ deps }: ConsoleDeps): RequestHandler {
  return async (req, res) => {
    const { person, csrf } = res.locals.visit as PersonVisit;
    const find = (queryOf(req, 'find') ?? '').trim().slice(0, 100);
    const places = await findPlaces(deps.mongo.collections, person.userId, find);
    const [only] = places.shown;
    if (only && places.total === 1 && find === '')
      return seeOther(res, `/console/projects/${encodeURIComponent(only.projectId)}`);
    sendPage(res, projectsPage({ email: person.email, csrf, places, find }));
  };
}
