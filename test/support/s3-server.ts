import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { packageRoot } from '../../src/base/packages.js';
import { obtainBuiltBinary } from '../../stack/binary-cache.js';
import { copyJars } from '../../stack/maven.js';
import { requireJdk } from '../../stack/prerequisites.js';
import { endOf } from '../../stack/run-to-end.js';
import { runSupervised, type SupervisedProcess } from '../../stack/supervised-process.js';
import { eventually } from './eventually.js';
import { freePort } from './ports.js';

export interface S3Server {
  env: Record<string, string>;
  /** Names of the stored objects that begin with `prefix`. */
  objects(prefix: string): Promise<string[]>;
  close(): Promise<void>;
}

const bucket = 'files-of-a-test';
const region = 'us-east-1';
const credentials = { accessKeyId: 'test-key', secretAccessKey: 'test-secret' };
const pom = path.join(packageRoot, 'test/support/s3proxy/pom.xml');

/**
 * A server with the S3 protocol that verifies signatures and their expiry: S3Proxy with its objects in memory. Its jars
 * are downloaded once from Maven Central, like those of the local stack.
 */
export async function startS3(): Promise<S3Server> {
  const folder = mkdtempSync(path.join(tmpdir(), 's3-'));
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const logFile = path.join(folder, 's3proxy.log');
  const server = await runS3Proxy(endpoint, folder, logFile);
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await eventually(async () => {
    if (server.ended() === undefined) await client.send(new CreateBucketCommand({ Bucket: bucket }));
  });
  if (server.ended() !== undefined) throw new Error(`S3Proxy ended: ${await endOf(logFile)}`);
  return {
    env: {
      S3_BUCKET: bucket,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_S3: endpoint,
    },
    async objects(prefix) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
      return Contents.map(({ Key = '' }) => Key);
    },
    async close() {
      client.destroy();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function runS3Proxy(endpoint: string, folder: string, logFile: string): Promise<SupervisedProcess> {
  const settings = path.join(folder, 's3proxy.conf');
  writeFileSync(
    settings,
    [
      `s3proxy.endpoint=${endpoint}`,
      's3proxy.authorization=aws-v2-or-v4',
      `s3proxy.identity=${credentials.accessKeyId}`,
      `s3proxy.credential=${credentials.secretAccessKey}`,
      'jclouds.provider=transient-nio2',
    ].join('\n'),
  );
  return runSupervised({
    command: await requireJdk('java', process.env),
    args: [
      ...['-Xmx512m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'],
      ...['-cp', path.join(await jars(), '*'), 'org.gaul.s3proxy.Main', '--properties', settings],
    ],
    env: { ...process.env, LOG_LEVEL: 'warn' },
    logFile,
  });
}

async function jars(): Promise<string> {
  const digest = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12);
  const build = {
    key: `s3proxy-${digest}`,
    from: 'Maven Central',
    takes: '40 seconds',
    into: (place: Parameters<typeof copyJars>[1]) => copyJars(pom, place),
  };
  const folder = await obtainBuiltBinary({ title: 'S3Proxy', build }, { env: process.env, log: console.log });
  return path.join(folder, 'lib');
}
