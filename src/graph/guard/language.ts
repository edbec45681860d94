/** The grammar rules of Cypher 5 that the guard understands. All others are refused. */
export const allowedRules = wordsOf(`
  statements statement regularQuery singleQuery clause
  returnClause returnBody returnItem returnItems orderItem ascToken descToken orderBy skip limit
  whereClause withClause matchClause unwindClause subqueryClause subqueryScope orderBySkipLimitClause
  patternList pattern quantifier anonymousPattern shortestPathPattern patternElement selector groupToken pathToken
  pathPatternNonEmpty nodePattern parenthesizedPath properties
  relationshipPattern leftArrow arrowLine rightArrow pathLength
  labelExpression labelExpression1 labelExpression2 labelExpression3 labelExpression4
  labelExpression1Is labelExpression2Is labelExpression3Is labelExpression4Is
  expression expression1 expression2 expression3 expression4 expression5 expression6 expression7 expression8
  expression9 expression10 expression11 comparisonExpression6 normalForm postFix property propertyKeyName
  literal caseExpression caseAlternative extendedCaseExpression extendedCaseAlternative extendedWhen
  listComprehension patternComprehension reduceExpression listItemsPredicate normalizeFunction trimFunction
  patternExpression parenthesizedExpression mapProjection mapProjectionElement
  countStar existsExpression countExpression collectExpression
  numberLiteral stringLiteral listLiteral map parameter parameterName
  functionInvocation functionArgument functionName namespace variable
  type typePart typeName typeNullability typeListSuffix
`);

const dynamicLabel = 'A label or a relationship type must be a name in the query, not a computed value';
const schema = 'Commands over the schema and the server are not allowed';

/** Rules with a specific refusal message. Other refusals quote the text. */
export const refusedRules: Readonly<Record<string, string>> = {
  createClause: 'The query may only read: CREATE is not allowed',
  insertClause: 'The query may only read: INSERT is not allowed',
  mergeClause: 'The query may only read: MERGE is not allowed',
  deleteClause: 'The query may only read: DELETE is not allowed',
  setClause: 'The query may only read: SET is not allowed',
  removeClause: 'The query may only read: REMOVE is not allowed',
  foreachClause: 'The query may only read: FOREACH is not allowed',
  loadCSVClause: 'LOAD CSV is not allowed',
  useClause: 'USE is not allowed: the service chooses the database',
  callClause: 'Procedures are not allowed; CALL may only open a subquery in braces',
  subqueryInTransactionsParameters: 'CALL … IN TRANSACTIONS is not allowed',
  hint: 'USING hints are not allowed',
  matchMode: 'Match modes are not allowed',
  shortestPathExpression: 'shortestPath is allowed in MATCH only',
  dynamicExpression: dynamicLabel,
  dynamicAnyAllExpression: dynamicLabel,
  command: schema,
};

/** Built-in functions that depend only on their arguments, in lower case. */
export const allowedFunctions = wordsOf(`
  avg collect count max min percentilecont percentiledisc stdev stdevp sum
  char_length character_length coalesce elementid endnode exists head id isempty keys labels last length nodes nullif
  properties randomuuid range relationships reverse size startnode tail timestamp type valuetype
  toboolean tobooleanlist tobooleanornull tofloat tofloatlist tofloatornull
  tointeger tointegerlist tointegerornull tostring tostringlist tostringornull
  abs acos asin atan atan2 ceil cos cot degrees e exp floor haversin isnan log log10 pi radians rand round sign sin
  sqrt tan
  btrim left lower ltrim replace right rtrim split substring tolower toupper trim upper
  date date.realtime date.statement date.transaction date.truncate
  datetime datetime.fromepoch datetime.fromepochmillis datetime.realtime datetime.statement datetime.transaction
  datetime.truncate
  localdatetime localdatetime.realtime localdatetime.statement localdatetime.transaction localdatetime.truncate
  localtime localtime.truncate time time.truncate
  duration duration.between duration.indays duration.inmonths duration.inseconds
  point point.distance point.withinbbox
  vector.similarity.cosine vector.similarity.euclidean
`);

export const readKeywords = wordsOf('MATCH OPTIONAL WITH UNWIND RETURN CALL');

export const writeKeywords = wordsOf('CREATE INSERT MERGE DELETE DETACH NODETACH SET REMOVE FOREACH LOAD DROP ALTER');

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
