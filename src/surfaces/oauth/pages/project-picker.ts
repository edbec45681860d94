import { manyChoices, roleNames, type ProjectChoice, type ProjectChoices } from '../../../auth/project-choices.js';
import { html, type Html } from '../../browser/html.js';

interface ProjectPicker {
  choices: ProjectChoices;
  find: string;
  picked: ProjectChoice;
  /** The text of the button that shows the picked project. */
  button: string;
}

/** Lets the person pick a project. Contains the form's first button, so that the Enter key shows the project and never allows access. */
export function projectPicker({ choices, find, picked, button }: ProjectPicker): Html {
  const isOnly = choices.total === 1 && find === '';
  return html`<fieldset>
<legend>Where it may act</legend>
<input type="hidden" name="shown_project" value="${picked.projectId}">
${isOnly ? onlyProject(picked) : html`${(choices.total > manyChoices || find !== '') && findField(find)}${projectList(choices, picked, button)}`}
</fieldset>`;
}

function onlyProject(picked: ProjectChoice): Html {
  return html`<input type="hidden" name="project" value="${picked.projectId}">
<p>${projectText(picked)}</p>
<p class="hint">It reaches this project and no other.</p>`;
}

function projectText({ project, organization, department, roles }: ProjectChoice): Html {
  return html`<strong><bdi>${project}</bdi></strong> of <bdi>${organization}</bdi>, <bdi>${department}</bdi>. Your role there: ${roleNames(roles)}.`;
}

function findField(find: string): Html {
  return html`<label for="find">Find a project by its name</label>
<input id="find" name="find" type="search" maxlength="100" value="${find}">`;
}

function projectList({ shown, total }: ProjectChoices, picked: ProjectChoice, button: string): Html {
  const listed = shown.some(({ projectId }) => projectId === picked.projectId) ? shown : [picked, ...shown];
  return html`<label for="project">Organization, department and project</label>
<select id="project" name="project" aria-describedby="project-hint">
${[...groupsOf(listed)].map(
  ([group, choices]) => html`<optgroup label="${group}">
${choices.map(({ projectId, project }) => html`<option value="${projectId}"${projectId === picked.projectId && html` selected`}>${project}</option>`)}
</optgroup>`,
)}
</select>
<p class="hint" id="project-hint">It reaches the project that you pick and no other. ${total > shown.length && `The first ${shown.length} of ${total} are listed.`}</p>
<p><button class="small" name="action" value="show">${button}</button></p>
<p>Picked: ${projectText(picked)}</p>`;
}

function groupsOf(choices: readonly ProjectChoice[]): ReadonlyMap<string, ProjectChoice[]> {
  const groups = new Map<string, ProjectChoice[]>();
  for (const choice of choices) {
    const group = `${choice.organization} › ${choice.department}`;
    groups.set(group, [...(groups.get(group) ?? []), choice]);
  }
  return groups;
}
