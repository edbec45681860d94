import { child, compact, entriesOf, nameOf, walk, type Tree } from './tree.js';

/**
 * Checks query rule 2 of the specification: `project_id = $project_id` or `project_id IN $project_ids` in a WHERE or in
 * the properties of a pattern. Isolation does not depend on this rule; `bind.ts` enforces it.
 */
export function filtersOnProject(statement: Tree): boolean {
  let found = false;
  walk(statement, (tree) => {
    if (found) return false;
    if (tree.rule === 'properties') found = mapsProject(tree);
    const at = tree.children.findIndex((each) => each.rule === 'WHERE');
    const condition = at < 0 ? undefined : tree.children[at + 1];
    if (condition) found ||= comparesProject(condition);
    return !found;
  });
  return found;
}

function comparesProject(condition: Tree): boolean {
  let found = false;
  walk(condition, (tree) => {
    const [left, operator, right] = tree.children;
    if (tree.rule === 'expression8' && left && right && operator?.rule === 'EQ' && tree.children.length === 3) {
      found ||= isProjectProperty(left) && compact(right) === '$project_id';
      found ||= isProjectProperty(right) && compact(left) === '$project_id';
    }
    if (tree.rule === 'expression7' && left && operator?.rule === 'comparisonExpression6') {
      found ||=
        isProjectProperty(left) && operator.children[0]?.rule === 'IN' && compact(operator).slice(2) === '$project_ids';
    }
    return !found;
  });
  return found;
}

function isProjectProperty(tree: Tree): boolean {
  if (tree.rule !== 'expression2' || tree.children.length !== 2) return false;
  const property = tree.children[1] && child(tree.children[1], 'property');
  const key = property && child(property, 'propertyKeyName');
  return key !== undefined && nameOf(key) === 'project_id';
}

function mapsProject(properties: Tree): boolean {
  return entriesOf(properties).some(([key, value]) => nameOf(key) === 'project_id' && compact(value) === '$project_id');
}
