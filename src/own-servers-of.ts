import type { Config } from './config.js';
import type { OwnServer } from './outbound/own-servers.js';

/** The default ports of the HTTP APIs that Temporal and Neo4j open beside those that the product uses. */
const temporalHttpPort = 7243;
const neo4jHttpPorts = [7474, 7473];

type Addresses = Pick<Config, 'temporal' | 'mongodb' | 'neo4j' | 'callbacks' | 'downstreamPort' | 'workerMetricsPort'> &
  Pick<Config, 'protectedTargets'>;

/** Returns the servers that the configuration names. */
export function ownServersOf(config: Addresses): OwnServer[] {
  const { temporal, mongodb, neo4j, callbacks, downstreamPort, workerMetricsPort, protectedTargets } = config;
  const internal = [downstreamPort, ...(workerMetricsPort === undefined ? [] : [workerMetricsPort])];
  return [
    hostAndPort(temporal.connection.address, 7233, [temporalHttpPort]),
    ofUrl(temporal.uiUrl),
    ...mongodbServers(mongodb.uri),
    ofUrl(neo4j.uri, 7687, neo4jHttpPorts),
    { host: '127.0.0.1', ports: internal },
    ...(callbacks.downstreamUrl === undefined ? [] : [ofUrl(callbacks.downstreamUrl)]),
    ...protectedTargets.map((target) => hostAndPort(target, 80)),
  ];
}

/** Reads the hosts of a connection string (MongoDB, Connection String URI Format). */
function mongodbServers(uri: string): OwnServer[] {
  const [scheme = '', rest = ''] = uri.split('://');
  const authority = rest.split(/[/?]/)[0] ?? '';
  const hosts = authority.slice(authority.lastIndexOf('@') + 1).split(',');
  if (scheme === 'mongodb+srv') return hosts.map((host) => ({ host, ports: [], isCluster: true }));
  return hosts.map((host) => hostAndPort(host, 27_017));
}

function ofUrl(url: string, defaultPort?: number, more: readonly number[] = []): OwnServer {
  const { hostname, port, protocol } = new URL(url);
  return {
    host: withoutBrackets(hostname),
    ports: [Number(port) || (defaultPort ?? (protocol === 'https:' ? 443 : 80)), ...more],
  };
}

function hostAndPort(text: string, defaultPort: number, more: readonly number[] = []): OwnServer {
  const port = /:(\d+)$/.exec(text)?.[1];
  const host = port === undefined ? text : text.slice(0, -port.length - 1);
  return { host: withoutBrackets(host), ports: [Number(port ?? defaultPort), ...more] };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
