/** Queries to begin with. They fit runs and tasks; those of tables need the names of their columns. */
export const queries: readonly { name: string; stages: readonly object[] }[] = [
  { name: 'Number by state', stages: [{ $group: { _id: '$status', count: { $sum: 1 } } }, { $sort: { count: -1 } }] },
  {
    name: 'Number of the last 7 days',
    stages: [
      {
        $match: {
          $expr: { $gte: ['$created_at', { $subtract: [{ $divide: [{ $toLong: '$$NOW' }, 1000] }, 604_800] }] },
        },
      },
      { $count: 'count' },
    ],
  },
  { name: 'Number of all', stages: [{ $count: 'count' }] },
  {
    name: 'Newest 20',
    stages: [{ $sort: { created_at: -1 } }, { $limit: 20 }, { $project: { _id: 0, status: 1, created_at: 1 } }],
  },
];
