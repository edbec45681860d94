import express from 'express';
import neo4j from 'neo4j-driver';
import { createServer } from 'node:http';
import { announce } from '../../test/support/ports.js';

/** The baseline of a governed query: a route that makes only the same driver call. */
const { NEO4J_URI = '', NEO4J_USER = 'neo4j', NEO4J_PASSWORD = '' } = process.env;
const driver = neo4j.driver(NEO4J_URI, neo4j.auth.basic(NEO4J_USER, NEO4J_PASSWORD), { disableLosslessIntegers: true });
const app = express();
app.use(express.json());
app.post('/query', async (req, res) => {
  const { query, params } = req.body as { query: string; params: Record<string, unknown> };
  const session = driver.session({ defaultAccessMode: neo4j.session.READ });
  try {
    const result = await session.executeRead((transaction) => transaction.run(query, params), { timeout: 5000 });
    res.json({ rows: result.records.map((record) => record.toObject()) });
  } finally {
    await session.close();
  }
});
await announce(createServer(app));
