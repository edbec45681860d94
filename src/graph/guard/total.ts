import { argumentsOf, functionOf } from './inspect.js';
import { child, hasRule, isOperator, nameOf, walk, whereOf, type Tree } from './tree.js';
import { addPatternVariables, emptyScope } from './variables.js';

/**
 * Returns whether a condition can never fail at run time, whatever the data. The database may evaluate conditions in
 * any order, so the error of a failing condition could reveal a value outside the project: `1 / n.balance = 1`.
 * @param elements the names that are certain to be nodes or relationships; a property of anything else can fail
 */
export function isTotalCondition(tree: Tree, elements: ReadonlySet<string>): boolean {
  switch (tree.rule) {
    case 'parenthesizedExpression':
      return tree.children[1] !== undefined && isTotalCondition(tree.children[1], elements);
    case 'expression':
    case 'expression11':
    case 'expression10':
    case 'expression9':
      return tree.children.every((each) => connectives.has(each.rule) || isTotalCondition(each, elements));
    case 'expression8':
      return tree.children.every((each) => comparisons.has(each.rule) || isTotalValue(each, elements));
    case 'expression7':
      return isTotalComparison(tree, elements);
    case 'expression2':
      return isElementWith(tree, 'labelExpression', elements);
    case 'literal':
      return hasRule(tree, 'TRUE') || hasRule(tree, 'FALSE');
    case 'patternExpression':
      return patternsAreTotal(tree, elements);
    case 'existsExpression':
      return existsIsTotal(tree, elements);
    default:
      return false;
  }
}

const connectives = new Set(['OR', 'XOR', 'AND', 'NOT']);
const comparisons = new Set(['EQ', 'NEQ', 'LE', 'GE', 'LT', 'GT']);
const textAndLists = new Set(['STARTS', 'ENDS', 'WITH', 'CONTAINS', 'IN']);
const totalFunctions = new Set(['id', 'elementid', 'labels', 'type']);

function isTotalComparison(tree: Tree, elements: ReadonlySet<string>): boolean {
  const [operand, comparison] = tree.children;
  if (!operand || !comparison || !isTotalValue(operand, elements)) return false;
  const kind = comparison.children[0]?.rule ?? '';
  if (kind === 'IS') return comparison.children.every((each) => ['IS', 'NOT', 'NULL'].includes(each.rule));
  if (!textAndLists.has(kind)) return false;
  const right = comparison.children.at(-1);
  if (!right) return false;
  // The compiler refuses a parameter that is not a list, before it reads any data.
  if (kind === 'IN')
    return right.rule === 'parameter' || (right.rule === 'listLiteral' && isTotalValue(right, elements));
  return isTotalValue(right, elements);
}

/**
 * Returns whether the value is a literal, a parameter, a variable, a property of an element, or a list or map of these.
 */
export function isTotalValue(tree: Tree, elements: ReadonlySet<string>): boolean {
  switch (tree.rule) {
    case 'parameter':
    case 'variable':
      return true;
    case 'literal': {
      const map = child(tree, 'map');
      return !map || isTotalMap(map, elements);
    }
    case 'listLiteral':
      return tree.children.every((each) => each.token !== null || isTotalValue(each, elements));
    case 'expression2':
      return isElementWith(tree, 'property', elements);
    case 'functionInvocation':
      return totalFunctions.has(functionOf(tree)) && argumentsOf(tree).every((each) => isElement(each, elements));
    default:
      return false;
  }
}

export function isTotalMap({ children }: Tree, elements: ReadonlySet<string>): boolean {
  return children.every(
    (entry) => entry.token !== null || entry.rule === 'propertyKeyName' || isTotalValue(entry, elements),
  );
}

function existsIsTotal(tree: Tree, outer: ReadonlySet<string>): boolean {
  const patterns = child(tree, 'patternList');
  if (!patterns) return false;
  const within = { ...emptyScope(), elements: new Set(outer) };
  addPatternVariables(patterns, within);
  return patternsAreTotal(patterns, within.elements) && conditionIsTotal(tree, within.elements);
}

function isElement(tree: Tree, elements: ReadonlySet<string>): boolean {
  return tree.rule === 'variable' && elements.has(nameOf(tree));
}

function isElementWith(tree: Tree, what: string, elements: ReadonlySet<string>): boolean {
  const [variable, postFix] = tree.children;
  return (
    tree.children.length === 2 &&
    variable !== undefined &&
    postFix !== undefined &&
    isElement(variable, elements) &&
    hasRule(postFix, what)
  );
}

/** Returns whether all patterns in the tree contain only plain values and plain conditions. */
function patternsAreTotal(tree: Tree, elements: ReadonlySet<string>): boolean {
  let total = true;
  walk(tree, (each) => {
    if (each.rule === 'map') {
      total &&= isTotalMap(each, elements);
      return false;
    }
    if (each.rule === 'nodePattern' || each.rule === 'relationshipPattern' || each.rule === 'parenthesizedPath') {
      total &&= conditionIsTotal(each, elements);
    }
    return total && !isOperator(each);
  });
  return total;
}

function conditionIsTotal(tree: Tree, elements: ReadonlySet<string>): boolean {
  const condition = whereOf(tree);
  return condition === undefined || isTotalCondition(condition, elements);
}

/** Returns the operands of a condition's top-level AND. */
export function conjunctsOf(condition: Tree): Tree[] {
  if (condition.rule !== 'expression10') return [condition];
  return condition.children.filter((each) => each.rule !== 'AND');
}
