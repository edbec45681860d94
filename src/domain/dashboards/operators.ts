/** Stages that read only their input. */
export const allowedStages: ReadonlySet<string> = new Set([
  '$addFields',
  '$bucket',
  '$bucketAuto',
  '$count',
  '$facet',
  '$group',
  '$limit',
  '$match',
  '$project',
  '$replaceRoot',
  '$set',
  '$skip',
  '$sort',
  '$sortByCount',
  '$unset',
  '$unwind',
]);

const logic = ['$and', '$or', '$nor', '$not', '$expr', '$cond', '$ifNull', '$switch', '$let', '$literal'];
const comparison = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$cmp', '$in', '$nin', '$exists', '$type'];
const arrays = [
  '$all',
  '$elemMatch',
  '$size',
  '$arrayElemAt',
  '$first',
  '$last',
  '$slice',
  '$indexOfArray',
  '$isArray',
  '$filter',
  '$map',
];
const numbers = [
  '$abs',
  '$add',
  '$ceil',
  '$divide',
  '$floor',
  '$mod',
  '$multiply',
  '$round',
  '$sqrt',
  '$subtract',
  '$trunc',
];
const texts = ['$concat', '$indexOfCP', '$strcasecmp', '$strLenCP', '$substrCP', '$toLower', '$toUpper', '$trim'];
const dates = [
  '$dateToString',
  '$dateTrunc',
  '$dayOfMonth',
  '$dayOfWeek',
  '$hour',
  '$minute',
  '$month',
  '$week',
  '$year',
  '$toDate',
];
const conversions = ['$toBool', '$toDouble', '$toInt', '$toLong', '$toString'];
const accumulators = ['$sum', '$avg', '$min', '$max', '$push', '$addToSet', '$count', '$stdDevPop', '$stdDevSamp'];

/**
 * The operators that are allowed at any depth. None of them runs code, reads another collection, matches a regular
 * expression, or creates a list from a number or string.
 */
export const allowedOperators: ReadonlySet<string> = new Set([
  ...logic,
  ...comparison,
  ...arrays,
  ...numbers,
  ...texts,
  ...dates,
  ...conversions,
  ...accumulators,
]);

/** The allowed system variables. They start with a capital letter; variables of a pipeline do not. */
export const allowedVariables: ReadonlySet<string> = new Set(['ROOT', 'CURRENT', 'REMOVE', 'NOW']);
